#include "gateway/ledger/internal/ledger_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fmt/format.h"
#include "gateway/ledger/internal/expiry.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"
#include "google/protobuf/util/json_util.h"

namespace headstart::ledger_internal {
namespace {

constexpr size_t kDeferredGroup = 1024;  // of what waits, written at once

std::string ToJson(const v1::UsageEntry& entry) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(entry, &json, options);
  return status.ok() ? json : entry.ShortDebugString();
}

}  // namespace

// Where the directory was is claimed anew: what is there now may be a copy that was put back, or nothing.
absl::Status LedgerWriter::Claim() {
  if (directory_ != nullptr && directory_->in_place()) return absl::OkStatus();
  directory_.reset();
  auto claimed = LedgerDirectory::Claim(settings_.env, settings_.directory, settings_.identify);
  if (!claimed.ok()) return claimed.status();
  directory_ = *std::move(claimed);
  if (std::exchange(was_claimed_, true)) {
    settings_.on_event(fmt::format(
        "the ledger goes on in what {} is now: records from before are there only if its files were put back",
        settings_.directory));
  }
  return absl::OkStatus();
}

absl::Status LedgerWriter::Open() {
  if (absl::Status claimed = Claim(); !claimed.ok()) return claimed;
  auto opened = LedgerDatabase::Open(settings_.env, directory_->database(), settings_.identify, settings_.on_event);
  if (!opened.ok()) return opened.status();
  auto last = LastGroup(**opened);
  if (!last.ok()) return last.status();
  last_group_ = *last;
  gate_.Open(*std::move(opened));
  return absl::OkStatus();
}

absl::Status LedgerWriter::Recover() {
  if (failed()) {
    if (absl::Status opened = Open(); !opened.ok()) return opened;
  }
  SettleDoubtful();
  return WriteDeferred();
}

// What is on the device after all is told, the rest is the first to be written again.
void LedgerWriter::SettleDoubtful() {
  if (!doubtful_) return;
  if (last_group_ == doubtful_->number()) {
    Tell(*doubtful_);
  } else {
    auto& postings = doubtful_->postings();
    deferred_.insert(deferred_.begin(), std::move_iterator(postings.begin()), std::move_iterator(postings.end()));
  }
  doubtful_.reset();
}

absl::Status LedgerWriter::WriteDeferred() {
  while (!deferred_.empty()) {
    const auto end = deferred_.begin() + static_cast<int64_t>(std::min(deferred_.size(), kDeferredGroup));
    std::vector<Posting> postings(std::move_iterator(deferred_.begin()), std::move_iterator(end));
    deferred_.erase(deferred_.begin(), end);
    if (absl::Status written = WriteGroup({last_group_ + 1, std::move(postings)}); !written.ok()) return written;
  }
  return absl::OkStatus();
}

void LedgerWriter::Write(std::vector<Posting> postings) {
  if (!failed()) {
    WriteGroup({last_group_ + 1, std::move(postings)}).IgnoreError();  // Doubt has told it
    return;
  }
  Defer(postings);
  deferred_.insert(deferred_.end(), std::move_iterator(postings.begin()), std::move_iterator(postings.end()));
}

absl::Status LedgerWriter::WriteGroup(PostingGroup group) {
  LedgerDatabase& database = *gate_.database();
  absl::Status status = group.Stage(database);
  if (status.ok()) status = database.Write(group.batch());
  if (!status.ok()) {
    Doubt(std::move(group), status);
    return status;
  }
  last_group_ = group.number();
  Tell(group);
  return absl::OkStatus();
}

void LedgerWriter::Doubt(PostingGroup group, const absl::Status& why) {
  Defer(group.postings());
  doubtful_.emplace(std::move(group));
  Close(why);
}

void LedgerWriter::Close(const absl::Status& why) {
  gate_.Close();
  settings_.on_event(fmt::format("the ledger does not take records for now, and keeps them in memory: {}",
                                 std::string(why.message())));
}

// The listener first: whoever hears that it is recorded finds it in budgets and metrics.
void LedgerWriter::Tell(PostingGroup& group) {
  for (size_t i = 0; i < group.size(); ++i) {
    const Posting& posting = group.postings()[i];
    const StoredEntry& stored = group.results()[i];
    if (settings_.listener != nullptr) settings_.listener->OnStored(posting.entry, stored, posting.deferred);
    if (!posting.deferred && posting.done) posting.done(true, stored);
  }
}

void LedgerWriter::Defer(std::vector<Posting>& postings) {
  for (Posting& posting : postings) {
    if (std::exchange(posting.deferred, true)) continue;
    if (settings_.listener != nullptr) settings_.listener->OnDeferred(posting.entry);
    if (posting.done) posting.done(false, {.entry = posting.entry, .added = TotalsOf(posting.entry)});
  }
}

int64_t LedgerWriter::waiting() const {
  const size_t doubtful = doubtful_ ? doubtful_->size() : 0;
  return static_cast<int64_t>(doubtful + deferred_.size());
}

bool LedgerWriter::Expire(absl::Time records_before, absl::Time hours_before, int limit) {
  if (failed()) return false;
  LedgerDatabase& database = *gate_.database();
  const std::string records_end = RecordKey(records_before, "");
  const std::string hours_end = HourKey(HourOf(hours_before));
  Expiry expiry(database, records_end, hours_end, limit);
  absl::Status status = expiry.Stage();
  if (status.ok() && !expiry.empty()) status = database.Write(expiry.batch());
  if (!status.ok()) {
    Close(status);
    return false;
  }
  if (!expiry.empty() && !expiry.has_more()) database.Reclaim(records_end, hours_end);
  return expiry.has_more();
}

void LedgerWriter::TellWhatIsLost() {
  if (waiting() == 0) return;
  settings_.on_event(fmt::format(
      "{} records of the account could not be written before the end; they follow, a line of JSON each", waiting()));
  if (doubtful_) {
    for (const Posting& posting : doubtful_->postings()) settings_.on_event(ToJson(posting.entry));
  }
  for (const Posting& posting : deferred_) settings_.on_event(ToJson(posting.entry));
}

}  // namespace headstart::ledger_internal
