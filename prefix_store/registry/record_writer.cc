#include "prefix_store/registry/record_writer.h"

#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "prefix_store/mutex.h"

namespace headstart {
namespace {

// As long as a full disk may take somebody to see to, and rare enough to cost nothing.
constexpr absl::Duration kRetryPause = absl::Seconds(10);

}  // namespace

// What the work on the executor needs; it may outlive the writer.
struct RecordWriter::Shared {
  struct Result {
    std::string name;
    uint64_t version;
    absl::Status status;
  };

  explicit Shared(NamedRecords& the_records) : records(the_records) {}

  void CarryOut(Result change, const std::optional<std::string>& bytes) {
    change.status = bytes ? records.Put(change.name, *bytes) : records.Remove(change.name);
    MutexLock lock(mutex);
    done.push_back(std::move(change));
  }

  std::vector<Result> TakeDone() {
    MutexLock lock(mutex);
    return std::exchange(done, {});
  }

  NamedRecords& records;
  Mutex mutex;
  std::vector<Result> done ABSL_GUARDED_BY(mutex);
};

RecordWriter::RecordWriter(NamedRecords* records, IoExecutor* io)
    : io_(io), shared_(records == nullptr ? nullptr : std::make_shared<Shared>(*records)) {}

void RecordWriter::Want(std::string name, std::optional<std::string> bytes) {
  if (shared_ == nullptr) return;
  const auto wanted =
      wanted_.insert_or_assign(std::move(name), Wanted{std::move(bytes), ++versions_, std::nullopt}).first;
  Submit(wanted->first, wanted->second);
}

// The write lane keeps the order of changes to one name.
void RecordWriter::Submit(const std::string& name, const Wanted& wanted) {
  io_->Run(IoLane::kWrite, [shared = shared_, change = Shared::Result{name, wanted.version, {}},
                            bytes = wanted.bytes]() mutable { shared->CarryOut(std::move(change), bytes); });
}

absl::Status RecordWriter::Poll(absl::Time now) {
  absl::Status failure;
  if (wanted_.empty()) return failure;
  for (Shared::Result& result : shared_->TakeDone()) {
    const auto wanted = wanted_.find(result.name);
    if (wanted == wanted_.end() || wanted->second.version != result.version) continue;
    if (result.status.ok()) {
      wanted_.erase(wanted);
    } else {
      wanted->second.retry = now + kRetryPause;
      failure = std::move(result.status);
    }
  }
  for (auto& [name, wanted] : wanted_) {
    if (!wanted.retry || *wanted.retry > now) continue;
    wanted.retry.reset();
    Submit(name, wanted);
  }
  return failure;
}

}  // namespace headstart
