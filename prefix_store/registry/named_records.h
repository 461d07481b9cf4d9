// NamedRecords: small opaque records under names that outlive the process.
//
// Thread-safety: any thread, one call at a time; each may take as long as a synced write does, so never the
// scheduler's. Errors: those of Tier. A change has survived whatever comes once it returned OK; after another status it
// may or may not have been made.

#ifndef HEADSTART_PREFIX_STORE_REGISTRY_NAMED_RECORDS_H_
#define HEADSTART_PREFIX_STORE_REGISTRY_NAMED_RECORDS_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "prefix_store/tier/disk_tier.h"

namespace headstart {

class NamedRecords {
 public:
  virtual ~NamedRecords() = default;
  virtual absl::Status Put(std::string_view name, std::string_view bytes) = 0;
  virtual absl::Status Remove(std::string_view name) = 0;  // one that is not there is no error
  virtual absl::Status ForEach(absl::FunctionRef<void(std::string_view name, std::string_view bytes)> visit) const = 0;
};

// Those of a disk tier, which outlives it. Changes must run where the tier's other writes do (IoLane::kWrite): after
// one that failed the tier is probed, and the change tried once more.
class DiskNamedRecords final : public NamedRecords {
 public:
  explicit DiskNamedRecords(DiskTier& disk) : disk_(disk) {}

  absl::Status Put(std::string_view name, std::string_view bytes) override {
    return Twice([&] { return disk_.PutNamed(name, bytes); });
  }
  absl::Status Remove(std::string_view name) override {
    return Twice([&] { return disk_.RemoveNamed(name); });
  }
  absl::Status ForEach(absl::FunctionRef<void(std::string_view name, std::string_view bytes)> visit) const override {
    return disk_.ForEachNamed(visit);
  }

 private:
  absl::Status Twice(absl::FunctionRef<absl::Status()> change) {
    absl::Status status = change();
    return !status.ok() && disk_.Probe().ok() ? change() : status;
  }

  DiskTier& disk_;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REGISTRY_NAMED_RECORDS_H_
