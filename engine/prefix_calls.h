// PrefixCalls: what an engine does for registered prefixes, on its scheduler's thread.
//
// Thread-safety: every method may be called from any thread; callbacks come on the scheduler's.
// Ownership: the scheduler outlives it and whatever it has begun.

#ifndef HEADSTART_ENGINE_PREFIX_CALLS_H_
#define HEADSTART_ENGINE_PREFIX_CALLS_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/scheduler/scheduler_thread.h"

namespace headstart {

// A digest of a tokenizer: registered prefixes are tokens of it, and of no other. The same on every machine.
uint64_t VocabularyDigest(const Tokenizer& tokenizer);

class PrefixCalls {
 public:
  explicit PrefixCalls(SchedulerThread& scheduler) : scheduler_(scheduler) {}

  // Each as the method of Engine.
  void Create(PrefixSpec spec, Engine::PrefixDone done);
  void Get(Scope scope, std::string id, Engine::FoundPrefix done);
  void Update(Scope scope, std::string id, absl::Time expires, Engine::FoundPrefix done);
  void Delete(Scope scope, std::string id, std::function<void(const absl::Status&)> done);
  void List(Scope scope, std::function<void(std::vector<CachedPrefix>)> done);
  void ListAll(std::function<void(std::vector<CachedPrefix>)> done);
  using FlushDone = std::function<void(const absl::StatusOr<FlushReport>&)>;
  void Flush(FlushDone done);
  void PurgeTenant(std::string tenant, FlushDone done);

 private:
  // A prefix that is being computed: its id and the room for its pin are taken.
  struct Promise {
    Scope scope;
    std::string id;
    int64_t blocks;
  };
  using Promises = std::list<Promise>;

  absl::StatusOr<Promises::iterator> MakePromise(const PrefixSpec& spec, const PrefixStore& store,
                                                 const PrefixRegistry& registry);
  // Calls back once what `forget` took out of the cache is gone from disk for good.
  void Forget(std::function<FlushReport(PrefixStore&, PrefixRegistry&)> forget, FlushDone done);

  SchedulerThread& scheduler_;
  // The scheduler thread's, which ends what it runs when these calls are gone already.
  const std::shared_ptr<Promises> promises_ = std::make_shared<Promises>();
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_PREFIX_CALLS_H_
