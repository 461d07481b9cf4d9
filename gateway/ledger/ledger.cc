#include "gateway/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/internal/posting_group.h"

namespace headstart {
namespace {

constexpr char kMemoryDirectory[] = "/ledger";
constexpr int kExpiredAtOnce = 2048;                      // entries: a few milliseconds of the writer's time
constexpr absl::Duration kLongestSleep = absl::Hours(1);  // so that no clock overflows
constexpr int64_t kMarks = 64;                            // of the records that are kept in memory
constexpr size_t kLargestGroup = 4096;                    // postings that share a sync: a few megabytes

absl::Status CheckOptions(const LedgerOptions& options) {
  if (options.keep_records <= absl::ZeroDuration() || options.keep_hours < options.keep_records) {
    return absl::InvalidArgumentError(
        fmt::format("the ledger keeps records for {} and sums for {}; both are more than 0, and sums are kept at least "
                    "as long",
                    absl::FormatDuration(options.keep_records), absl::FormatDuration(options.keep_hours)));
  }
  return absl::OkStatus();
}

LedgerOptions WithDefaults(LedgerOptions options) {
  if (!options.on_event) options.on_event = [](const std::string&) {};
  if (options.directory.empty()) {
    options.directory = kMemoryDirectory;
  } else {
    while (options.directory.size() > 1 && options.directory.ends_with('/')) options.directory.pop_back();
  }
  return options;
}

absl::Status Closed() {
  return absl::UnavailableError("the ledger's disk has failed; it is tried again, so ask again later");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Ledger>> Ledger::Open(LedgerOptions options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  std::unique_ptr<rocksdb::Env> memory;
  if (options.directory.empty()) memory.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  std::unique_ptr<Ledger> ledger(new Ledger(WithDefaults(std::move(options)), std::move(memory)));
  if (absl::Status status = ledger->Start(); !status.ok()) return status;
  return ledger;
}

Ledger::Ledger(LedgerOptions options, std::unique_ptr<rocksdb::Env> memory)
    : options_(std::move(options)),
      memory_(std::move(memory)),
      env_(memory_ != nullptr        ? *memory_
           : options_.env != nullptr ? *options_.env
                                     : *rocksdb::Env::Default()),
      retry_after_(options_.first_retry) {}

absl::Status Ledger::Start() {
  writer_ = std::make_unique<ledger_internal::LedgerWriter>(
      gate_,
      ledger_internal::LedgerWriter::Settings{
          .env = env_,
          .directory = options_.directory,
          .identify = memory_ != nullptr ? ledger_internal::MemoryFileIdentity : ledger_internal::SystemFileIdentity,
          .on_event = options_.on_event,
          .listener = options_.listener});
  if (absl::Status opened = writer_->Recover(); !opened.ok()) return opened;
  thread_ = std::thread([this] { Run(); });
  return absl::OkStatus();
}

Ledger::~Ledger() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    mutex_.NotifyAll();
  }
  thread_.join();
  if (writer_->waiting() > 0) writer_->Recover().IgnoreError();  // what it could not write is told below
  writer_->TellWhatIsLost();
}

void Ledger::Post(v1::UsageEntry entry, Done done) {
  auto told = [done = std::move(done)](bool recorded, const StoredEntry& stored) {
    if (done) done({.recorded = recorded, .stored = stored});
  };
  MutexLock lock(mutex_);
  queue_.push_back({.entry = std::move(entry), .done = std::move(told)});
  ++waiting_;
  mutex_.NotifyAll();
}

absl::StatusOr<v1::UsageEntry> Ledger::Find(const std::string& tenant, const std::string& request_id) const {
  const auto database = gate_.Enter();
  if (!database) return Closed();
  return ledger_internal::FindEntry(*database.operator->(), ledger_internal::IdKey(tenant, request_id));
}

absl::StatusOr<RecordCursor> Ledger::ReadRecords(absl::Time from, absl::Time to) const {
  auto state = gate_.NewCursor();
  if (state == nullptr) return Closed();
  return RecordCursor(std::move(state), ledger_internal::RecordKey(from, ""), ledger_internal::RecordKey(to, ""));
}

absl::Status Ledger::ReadHours(absl::Time from, absl::Time to, VisitHour visit) const {
  const auto database = gate_.Enter();
  if (!database) return Closed();
  const std::string end = ledger_internal::HourKey(to);
  const rocksdb::Slice limit(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &limit;
  const std::unique_ptr<rocksdb::Iterator> hour(database->db().NewIterator(options, database->hours()));
  for (hour->Seek(ledger_internal::HourKey(from)); hour->Valid(); hour->Next()) {
    const auto group = ledger_internal::ParseHourKey(ledger_internal::ToView(hour->key()));
    v1::UsageTotals totals;
    if (!group || !totals.ParseFromArray(hour->value().data(), static_cast<int>(hour->value().size()))) {
      return absl::DataLossError("the ledger is damaged: the sums of an hour cannot be read");
    }
    if (!visit(*group, totals)) break;
  }
  return ledger_internal::FromRocks(hour->status(), "cannot read the ledger");
}

void Ledger::Ask(Request& request) {
  const uint64_t number = ++request.asked;
  mutex_.NotifyAll();
  while (request.done < number) mutex_.Wait();
}

void Ledger::Flush() {
  MutexLock lock(mutex_);
  Ask(flush_);
}

bool Ledger::RetryNow() {
  MutexLock lock(mutex_);
  Ask(retry_);
  return !failing_;
}

void Ledger::ExpireNow() {
  MutexLock lock(mutex_);
  Ask(expire_);
}

// --- the thread

void Ledger::Run() {
  for (bool last = false; !last;) {
    Round round = NextRound();
    if (memory_ != nullptr) CountInMemory(round.postings);
    if (!round.postings.empty()) writer_->Write(std::move(round.postings));
    RetryWhenDue(round.retry_now);
    ExpireWhenDue(round.expire_now);
    EndRound(round);
    last = round.last;
  }
}

bool Ledger::HasWork() const {
  return stopping_ || !queue_.empty() || flush_.pending() || retry_.pending() || expire_.pending();
}

Ledger::Round Ledger::NextRound() {
  MutexLock lock(mutex_);
  const absl::Duration patience = std::min(next_retry_, next_expiry_) - absl::Now();
  if (!HasWork() && patience > absl::ZeroDuration()) mutex_.WaitFor(std::min(patience, kLongestSleep));
  Round round;
  const auto end = queue_.begin() + static_cast<int64_t>(std::min(queue_.size(), kLargestGroup));
  round.postings.assign(std::move_iterator(queue_.begin()), std::move_iterator(end));
  queue_.erase(queue_.begin(), end);
  round.last = stopping_ && queue_.empty();
  round.flushed = queue_.empty() ? flush_.asked : flush_.done;
  round.retry = retry_.asked;
  round.expire = expire_.asked;
  round.retry_now = retry_.pending();
  round.expire_now = expire_.pending();
  return round;
}

void Ledger::EndRound(const Round& round) {
  MutexLock lock(mutex_);
  waiting_ = static_cast<int64_t>(queue_.size()) + writer_->waiting();
  flush_.done = round.flushed;
  retry_.done = round.retry;
  expire_.done = round.expire;
  mutex_.NotifyAll();
}

void Ledger::RetryWhenDue(bool now) {
  if (writer_->failed() && !failing_) next_retry_ = absl::Now() + retry_after_;
  if (writer_->failed() && (now || absl::Now() >= next_retry_)) {
    if (writer_->Recover().ok()) options_.on_event("the ledger takes records again; those that waited are written");
    next_retry_ = absl::Now() + retry_after_;
    retry_after_ = std::min(2 * retry_after_, options_.longest_retry);
  }
  failing_ = writer_->failed();
  if (failing_) return;
  next_retry_ = absl::InfiniteFuture();
  retry_after_ = options_.first_retry;
}

// A server without a directory for its account may run for months: its memory is not to grow with every request.
void Ledger::CountInMemory(const std::vector<ledger_internal::Posting>& postings) {
  const int64_t step = std::max<int64_t>(1, options_.max_records_in_memory / kMarks);
  for (const ledger_internal::Posting& posting : postings) {
    if (++counted_ % step == 0) marks_.push_back(ledger_internal::EndOf(posting.entry));
  }
  while (std::ssize(marks_) > kMarks) {
    first_kept_ = marks_.front();
    marks_.pop_front();
    next_expiry_ = absl::Now();
  }
}

// A little at a time, so that postings do not wait for it; all of it when somebody asks.
void Ledger::ExpireWhenDue(bool now) {
  if (!now && absl::Now() < next_expiry_) return;
  const absl::Time time = options_.now();
  bool more = true;
  while (more) {
    more = writer_->Expire(std::max(first_kept_, time - options_.keep_records), time - options_.keep_hours,
                           kExpiredAtOnce);
    if (!now) break;
  }
  next_expiry_ = more ? absl::Now() : absl::Now() + options_.expire_every;
}

}  // namespace headstart
