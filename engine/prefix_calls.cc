#include "engine/prefix_calls.h"

#include <memory>
#include <utility>

#include "absl/time/clock.h"
#include "fmt/format.h"
#include "prefix_store/block_hash.h"

namespace headstart {
namespace {

// A token more than the prefix has: the store leaves a prompt's last token out.
TokensByTier WhereIs(const PrefixStore& store, const RegisteredPrefix& prefix) {
  std::vector<TokenId> tokens = prefix.tokens;
  tokens.push_back(TokenId{});
  return store.Lookup(prefix.scope, tokens).by_tier;
}

CachedPrefix Describe(const PrefixStore& store, const PrefixRegistry::Entry& entry) {
  const RegisteredPrefix& prefix = entry.prefix;
  return {.id = prefix.id,
          .scope = prefix.scope,
          .display_name = prefix.display_name,
          .tokens = std::ssize(prefix.tokens),
          .created = prefix.created,
          .expires = prefix.expires,
          .by_tier = WhereIs(store, prefix),
          .pinned_tokens = entry.pin.pinned_tokens()};
}

absl::StatusOr<CachedPrefix> Describe(const PrefixStore& store,
                                      const absl::StatusOr<const PrefixRegistry::Entry*>& entry) {
  if (!entry.ok()) return entry.status();
  return Describe(store, **entry);
}

absl::Status NotComputed(FinishReason reason) {
  if (reason == FinishReason::kCancelled) return absl::CancelledError("Computing the prefix was cancelled.");
  if (reason == FinishReason::kDeadline)
    return absl::DeadlineExceededError("The deadline passed before it was computed.");
  return absl::UnavailableError("The server stopped before the prefix was computed: send it again.");
}

// Registers a prefix once its KV is computed.
class Warming final : public GenerationSink {
 public:
  Warming(SchedulerThread& scheduler, RegisteredPrefix prefix, Engine::PrefixDone done)
      : scheduler_(scheduler), prefix_(std::move(prefix)), done_(std::move(done)) {}

  void OnStarted(const GenerationUsage&) override {}
  void OnDelta(GenerationDelta) override {}
  void OnFinished(FinishReason reason, const GenerationUsage& usage, const GenerationTimings& timings) override {
    const PrefixWork work = {.usage = usage, .timings = timings};
    if (reason != FinishReason::kLength) return done_(NotComputed(reason), work);
    // Its blocks are let go only after this call: they are pinned in the next one.
    scheduler_.Call([prefix = std::move(prefix_), done = std::move(done_), work](PrefixStore& store,
                                                                                 PrefixRegistry& registry) mutable {
      done(Describe(store, registry.Add(std::move(prefix), absl::Now())), work);
    });
  }

  void OnRefused(const absl::Status& why, const GenerationUsage& usage, const GenerationTimings& timings) override {
    done_(why, {.usage = usage, .timings = timings});
  }

 private:
  SchedulerThread& scheduler_;
  RegisteredPrefix prefix_;
  Engine::PrefixDone done_;
};

GenerationRequest WarmingRequest(const PrefixSpec& spec) {
  GenerationRequest request;
  request.scope = spec.scope;
  request.prompt = spec.tokens;
  request.max_tokens = 1;
  request.prefill_only = true;
  return request;
}

absl::Status CheckSpec(const PrefixSpec& spec, absl::Time now) {
  if (spec.tokens.empty()) return absl::InvalidArgumentError("The prefix has no tokens: give it at least one.");
  if (spec.expires > now) return absl::OkStatus();
  return absl::InvalidArgumentError("The prefix would have expired already: give it a time to come.");
}

std::vector<CachedPrefix> Describe(PrefixStore& store, const std::vector<const PrefixRegistry::Entry*>& entries) {
  std::vector<CachedPrefix> prefixes;
  prefixes.reserve(entries.size());
  for (const PrefixRegistry::Entry* entry : entries) prefixes.push_back(Describe(store, *entry));
  return prefixes;
}

}  // namespace

uint64_t VocabularyDigest(const Tokenizer& tokenizer) {
  const BlockHasher hasher(/*bits=*/64, /*seed=*/0);
  uint64_t digest = 0;
  for (int32_t token = 0; token < tokenizer.vocab_size(); ++token) {
    digest = hasher.Combine(digest, hasher.Text(tokenizer.TokenBytes(TokenId{token}, /*with_special=*/true)));
  }
  return digest;
}

// Whether it can be registered is decided before it is computed, in vain and at somebody's cost.
absl::StatusOr<PrefixCalls::Promises::iterator> PrefixCalls::MakePromise(const PrefixSpec& spec,
                                                                         const PrefixStore& store,
                                                                         const PrefixRegistry& registry) {
  int64_t promised_blocks = 0;
  bool taken = registry.Find(spec.scope, spec.id) != nullptr;
  for (const Promise& promise : *promises_) {
    promised_blocks += promise.blocks;
    taken = taken || (promise.scope == spec.scope && promise.id == spec.id);
  }
  if (taken) return PrefixRegistry::IsTaken(spec.id);
  const absl::StatusOr<int64_t> blocks = store.CheckPin(spec.scope, spec.tokens, promised_blocks);
  if (!blocks.ok()) return blocks.status();
  return promises_->insert(promises_->end(), {spec.scope, spec.id, *blocks});
}

void PrefixCalls::Create(PrefixSpec spec, Engine::PrefixDone done) {
  const absl::Time now = absl::Now();
  if (const absl::Status status = CheckSpec(spec, now); !status.ok()) return done(status, {});
  scheduler_.Call([this, spec = std::move(spec), done = std::move(done), now](PrefixStore& store,
                                                                              PrefixRegistry& registry) mutable {
    const auto promise = MakePromise(spec, store, registry);
    if (!promise.ok()) return done(promise.status(), {});
    const auto kept = [promises = promises_, promise = *promise, done = std::move(done)](
                          const absl::StatusOr<CachedPrefix>& made, const PrefixWork& work) {
      promises->erase(promise);
      done(made, work);
    };
    GenerationRequest request = WarmingRequest(spec);
    RegisteredPrefix prefix{.id = std::move(spec.id),
                            .scope = std::move(spec.scope),
                            .tokens = std::move(spec.tokens),
                            .display_name = std::move(spec.display_name),
                            .created = now,
                            .expires = spec.expires};
    auto sink = std::make_shared<Warming>(scheduler_, std::move(prefix), kept);
    const auto submitted = scheduler_.Submit(std::move(request), sink);
    if (!submitted.ok()) kept(submitted.status(), {});
  });
}

void PrefixCalls::Get(Scope scope, std::string id, Engine::FoundPrefix done) {
  scheduler_.Call([scope = std::move(scope), id = std::move(id), done = std::move(done)](PrefixStore& store,
                                                                                         PrefixRegistry& registry) {
    const PrefixRegistry::Entry* entry = registry.Find(scope, id);
    if (entry == nullptr) return done(PrefixRegistry::IsMissing(id));
    done(Describe(store, *entry));
  });
}

void PrefixCalls::Update(Scope scope, std::string id, absl::Time expires, Engine::FoundPrefix done) {
  scheduler_.Call([scope = std::move(scope), id = std::move(id), expires, done = std::move(done)](
                      PrefixStore& store, PrefixRegistry& registry) {
    done(Describe(store, registry.Update(scope, id, expires, absl::Now())));
  });
}

void PrefixCalls::Delete(Scope scope, std::string id, std::function<void(const absl::Status&)> done) {
  scheduler_.Call([scope = std::move(scope), id = std::move(id), done = std::move(done)](
                      PrefixStore&, PrefixRegistry& registry) { done(registry.Remove(scope, id)); });
}

void PrefixCalls::List(Scope scope, std::function<void(std::vector<CachedPrefix>)> done) {
  scheduler_.Call([scope = std::move(scope), done = std::move(done)](PrefixStore& store, PrefixRegistry& registry) {
    done(Describe(store, registry.List(scope)));
  });
}

void PrefixCalls::ListAll(std::function<void(std::vector<CachedPrefix>)> done) {
  scheduler_.Call([done = std::move(done)](PrefixStore& store, PrefixRegistry& registry) {
    done(Describe(store, registry.ListAll()));
  });
}

// Pins go before what they hold, which is then forgotten with the rest.
void PrefixCalls::Flush(FlushDone done) {
  Forget(
      [](PrefixStore& store, PrefixRegistry& registry) {
        const int64_t prefixes = registry.RemoveAll();
        return FlushReport{.blocks = store.Flush(), .prefixes = prefixes};
      },
      std::move(done));
}

void PrefixCalls::PurgeTenant(std::string tenant, FlushDone done) {
  Forget(
      [tenant = std::move(tenant)](PrefixStore& store, PrefixRegistry& registry) {
        const int64_t prefixes = registry.RemoveTenant(tenant);
        return FlushReport{.blocks = store.PurgeTenant(tenant), .prefixes = prefixes};
      },
      std::move(done));
}

void PrefixCalls::Forget(std::function<FlushReport(PrefixStore&, PrefixRegistry&)> forget, FlushDone done) {
  auto report = std::make_shared<FlushReport>();
  scheduler_.CallDurably([report, forget = std::move(forget)](
                             PrefixStore& store, PrefixRegistry& registry) { *report = forget(store, registry); },
                         [report, done = std::move(done)](const absl::Status& status) {
                           if (!status.ok()) return done(status);
                           done(*report);
                         });
}

}  // namespace headstart
