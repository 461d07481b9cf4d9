#include "gateway/ledger/record_cursor.h"

#include <utility>

#include "gateway/ledger/internal/ledger_database.h"
#include "gateway/ledger/internal/ledger_keys.h"

namespace headstart {

RecordCursor::RecordCursor(std::shared_ptr<ledger_internal::CursorState> state, std::string from, std::string to)
    : state_(std::move(state)), from_(std::move(from)), to_(std::move(to)) {}

absl::StatusOr<std::vector<v1::UsageEntry>> RecordCursor::Next(const std::string& tenant, const PageSize& size) {
  std::vector<v1::UsageEntry> page;
  MutexLock lock(state_->mutex);
  rocksdb::Iterator* record = state_->iterator.get();
  if (record == nullptr) return absl::UnavailableError("the ledger was closed while it was read; read it anew");
  if (!from_.empty()) record->Seek(std::exchange(from_, {}));
  const std::string wanted = ledger_internal::IdKey(tenant, "");
  int64_t bytes = 0;
  for (int looked_at = 0; looked_at < size.max_looked_at; ++looked_at, record->Next()) {
    at_end_ = !record->Valid() || record->key().compare(to_) >= 0;
    if (at_end_ || static_cast<int>(page.size()) >= size.max_entries || bytes >= size.max_bytes) break;
    if (!tenant.empty() && !ledger_internal::IdKeyOf(ledger_internal::ToView(record->key())).starts_with(wanted))
      continue;
    v1::UsageEntry entry;
    if (!entry.ParseFromArray(record->value().data(), static_cast<int>(record->value().size()))) {
      return absl::DataLossError("the ledger is damaged: an entry cannot be read");
    }
    bytes += static_cast<int64_t>(record->value().size());
    page.push_back(std::move(entry));
  }
  if (!record->status().ok()) return ledger_internal::FromRocks(record->status(), "cannot read the ledger");
  return page;
}

}  // namespace headstart
