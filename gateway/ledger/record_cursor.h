// RecordCursor: a ledger's entries of a time, page by page, as they were when it was opened.
//
// Thread-safety: one thread at a time. Ownership: may outlive the ledger, with which it ends.
// Errors: UNAVAILABLE when the ledger was closed meanwhile, since its disk failed: read anew; DATA_LOSS.

#ifndef HEADSTART_GATEWAY_LEDGER_RECORD_CURSOR_H_
#define HEADSTART_GATEWAY_LEDGER_RECORD_CURSOR_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gateway/ledger/internal/database_gate.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

class RecordCursor {
 public:
  // From the key `from` up to and without `to`.
  RecordCursor(std::shared_ptr<ledger_internal::CursorState> state, std::string from, std::string to);

  // The next entries for which `tenant` is empty or theirs: at most `max_entries`, and about `max_bytes`. Looks at
  // `max_looked_at` entries at most, so the page may be empty. Nothing is left once at_end() is true.
  struct PageSize {
    int max_entries = 256;
    int64_t max_bytes = 256 << 10;
    int max_looked_at = 16384;
  };
  absl::StatusOr<std::vector<v1::UsageEntry>> Next(const std::string& tenant, const PageSize& size);
  absl::StatusOr<std::vector<v1::UsageEntry>> Next(const std::string& tenant = "") { return Next(tenant, PageSize()); }
  bool at_end() const { return at_end_; }

 private:
  std::shared_ptr<ledger_internal::CursorState> state_;
  std::string from_;  // until it was looked for: opening a cursor reads nothing
  std::string to_;
  bool at_end_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_RECORD_CURSOR_H_
