#include "gateway/ledger/internal/posting_group.h"

#include <utility>

#include "fmt/format.h"
#include "gateway/ledger/attempts.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"

namespace headstart::ledger_internal {
namespace {

constexpr std::string_view kLastGroup = "last_group";

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(fmt::format("the ledger is damaged: {} cannot be read", what));
}

}  // namespace

absl::StatusOr<uint64_t> LastGroup(LedgerDatabase& database) {
  const auto bytes = database.Get(database.state(), kLastGroup);
  if (absl::IsNotFound(bytes.status())) return 0;
  if (!bytes.ok()) return bytes.status();
  const auto number = DecodeNumber(*bytes);
  if (!number) return Damaged("the number of its last group");
  return *number;
}

absl::StatusOr<v1::UsageEntry> FindEntry(LedgerDatabase& database, const std::string& id_key) {
  auto place = database.Get(database.ids(), id_key);
  if (!place.ok()) return place.status();
  auto bytes = database.Get(database.records(), *place + id_key);
  if (absl::IsNotFound(bytes.status())) return Damaged("the entry of an id");
  if (!bytes.ok()) return bytes.status();
  v1::UsageEntry entry;
  if (!entry.ParseFromString(*bytes)) return Damaged("an entry");
  return entry;
}

absl::Status PostingGroup::Stage(LedgerDatabase& database) {
  batch_.Clear();
  results_.clear();
  staged_.clear();
  for (const Posting& posting : postings_) {
    auto stored = Stage(database, posting.entry);
    if (!stored.ok()) return stored.status();
    results_.push_back(*std::move(stored));
  }
  return FromRocks(batch_.Put(database.state(), ToSlice(kLastGroup), EncodeNumber(number_)), "cannot stage postings");
}

// An id that another request used before is given a number: "id~2", "id~3". A retry of that one finds its own.
absl::StatusOr<StoredEntry> PostingGroup::Stage(LedgerDatabase& database, const v1::UsageEntry& posted) {
  StoredEntry stored{.entry = posted, .added = TotalsOf(posted)};
  for (int number = 2;; ++number) {
    auto before = Find(database, IdKey(posted.tenant(), stored.entry.request_id()));
    if (!before.ok()) return before.status();
    if (!before->has_value()) break;
    if ((*before)->request_digest() == posted.request_digest()) {
      stored.entry = **before;
      JoinAttempt(posted, stored.entry);
      stored.added = Difference(TotalsOf(stored.entry), TotalsOf(**before));
      stored.repeated = true;
      break;
    }
    stored.entry.set_request_id(fmt::format("{}~{}", posted.request_id(), number));
  }
  if (absl::Status put = Put(database, stored); !put.ok()) return put;
  return stored;
}

absl::StatusOr<std::optional<v1::UsageEntry>> PostingGroup::Find(LedgerDatabase& database,
                                                                 const std::string& id_key) const {
  if (const auto staged = staged_.find(id_key); staged != staged_.end()) return staged->second;
  auto entry = FindEntry(database, id_key);
  if (absl::IsNotFound(entry.status())) return std::nullopt;
  if (!entry.ok()) return entry.status();
  return *std::move(entry);
}

absl::Status PostingGroup::Put(LedgerDatabase& database, const StoredEntry& stored) {
  const v1::UsageEntry& entry = stored.entry;
  const std::string id_key = IdKey(entry.tenant(), entry.request_id());
  const std::string place = RecordKey(EndOf(entry), "");
  rocksdb::Status status = batch_.Put(database.records(), place + id_key, entry.SerializeAsString());
  if (status.ok() && !stored.repeated) status = batch_.Put(database.ids(), id_key, place);
  if (status.ok()) {
    status = batch_.Merge(database.hours(), HourKey(HourOf(entry)), stored.added.SerializeAsString());
  }
  staged_[id_key] = entry;
  return FromRocks(status, "cannot stage postings");
}

}  // namespace headstart::ledger_internal
