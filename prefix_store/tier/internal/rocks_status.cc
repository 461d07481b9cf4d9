#include "prefix_store/tier/internal/rocks_status.h"

#include "fmt/format.h"

namespace headstart::internal {
namespace {

absl::StatusCode CodeOf(const rocksdb::Status& status) {
  if (status.ok()) return absl::StatusCode::kOk;
  if (status.IsNotFound() || status.IsPathNotFound()) return absl::StatusCode::kNotFound;
  if (status.IsCorruption()) return absl::StatusCode::kDataLoss;
  if (status.IsNoSpace()) return absl::StatusCode::kResourceExhausted;
  return absl::StatusCode::kUnavailable;
}

}  // namespace

absl::Status FromRocks(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(CodeOf(status), fmt::format("{}: {}", what, status.ToString()));
}

bool IsDamage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsNotFound() || status.IsPathNotFound() || status.IsInvalidArgument() ||
         status.IsNotSupported();
}

}  // namespace headstart::internal
