#include "gateway/ledger/internal/rocks_status.h"

#include "fmt/format.h"

namespace headstart::ledger_internal {

std::string ReasonOf(const rocksdb::Status& status) {
  return status.IsNoSpace() ? "no space left on the device" : status.ToString();
}

absl::Status FromRocks(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  if (status.IsNotFound()) code = absl::StatusCode::kNotFound;
  if (status.IsCorruption()) code = absl::StatusCode::kDataLoss;
  return absl::Status(code, fmt::format("{}: {}", what, ReasonOf(status)));
}

absl::Status FromRocksIo(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return absl::OkStatus();
  return absl::UnavailableError(fmt::format("{}: {}", what, ReasonOf(status)));
}

}  // namespace headstart::ledger_internal
