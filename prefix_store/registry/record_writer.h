// RecordWriter: changes of named records, carried out behind the back of the thread that asks for them. What fails is
// tried again until it succeeds or something newer is asked for the same name.
//
// Thread-safety: the scheduler thread's; the writes run on the executor's write lane.
// Ownership: records and executor outlive it and the work it handed out.

#ifndef HEADSTART_PREFIX_STORE_REGISTRY_RECORD_WRITER_H_
#define HEADSTART_PREFIX_STORE_REGISTRY_RECORD_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "prefix_store/registry/named_records.h"
#include "prefix_store/transfer/io_executor.h"

namespace headstart {

class RecordWriter {
 public:
  // Without records it does nothing.
  RecordWriter(NamedRecords* records, IoExecutor* io);

  void Put(std::string name, std::string bytes) { Want(std::move(name), std::move(bytes)); }
  void Remove(std::string name) { Want(std::move(name), std::nullopt); }

  // Takes back what has been done, and tries again what failed long enough ago. The last failure since the call before,
  // or OK.
  absl::Status Poll(absl::Time now);

  // Names whose last change is not durable yet.
  int64_t pending() const { return static_cast<int64_t>(wanted_.size()); }

 private:
  struct Wanted {
    std::optional<std::string> bytes;  // nothing: to be removed
    uint64_t version = 0;
    std::optional<absl::Time> retry;  // set while it waits after a failure
  };
  struct Shared;

  void Want(std::string name, std::optional<std::string> bytes);
  void Submit(const std::string& name, const Wanted& wanted);

  IoExecutor* const io_;
  const std::shared_ptr<Shared> shared_;  // null without records
  absl::btree_map<std::string, Wanted> wanted_;
  uint64_t versions_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REGISTRY_RECORD_WRITER_H_
