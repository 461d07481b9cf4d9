// PostingGroup: postings that become one batch: what each makes of the account, those before it in the group included.
//
// Thread-safety: the writer's thread.
// Ownership: the database outlives Stage.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_POSTING_GROUP_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_POSTING_GROUP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gateway/ledger/internal/ledger_database.h"
#include "gateway/ledger/ledger_listener.h"
#include "headstart/v1/usage_service.pb.h"
#include "rocksdb/write_batch.h"

namespace headstart::ledger_internal {

// One call of Post.
struct Posting {
  v1::UsageEntry entry;
  std::function<void(bool recorded, const StoredEntry& stored)> done;
  bool deferred = false;  // done was called: not recorded
};

class PostingGroup {
 public:
  PostingGroup(uint64_t number, std::vector<Posting> postings) : number_(number), postings_(std::move(postings)) {}

  // Fills batch() and results(). The errors of reading the database.
  absl::Status Stage(LedgerDatabase& database);

  // In the database, groups are told apart by their numbers: the last one says whether a write that failed is there.
  uint64_t number() const { return number_; }
  std::vector<Posting>& postings() { return postings_; }
  rocksdb::WriteBatch& batch() { return batch_; }
  const std::vector<StoredEntry>& results() const { return results_; }
  size_t size() const { return postings_.size(); }

 private:
  absl::StatusOr<StoredEntry> Stage(LedgerDatabase& database, const v1::UsageEntry& posted);
  // The entry of that id as it will be once what is staged is written.
  absl::StatusOr<std::optional<v1::UsageEntry>> Find(LedgerDatabase& database, const std::string& id_key) const;
  absl::Status Put(LedgerDatabase& database, const StoredEntry& stored);

  uint64_t number_;
  std::vector<Posting> postings_;
  std::vector<StoredEntry> results_;
  std::map<std::string, v1::UsageEntry> staged_;  // by id key
  rocksdb::WriteBatch batch_;
};

// The number of the last group that is in the database.
absl::StatusOr<uint64_t> LastGroup(LedgerDatabase& database);

// NOT_FOUND when there is no such entry.
absl::StatusOr<v1::UsageEntry> FindEntry(LedgerDatabase& database, const std::string& id_key);

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_POSTING_GROUP_H_
