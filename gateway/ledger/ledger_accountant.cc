#include "gateway/ledger/ledger_accountant.h"

#include <optional>
#include <utility>

#include "fmt/format.h"
#include "gateway/accounting/charge.h"
#include "gateway/accounting/money.h"
#include "gateway/accounting/usage_message.h"
#include "gateway/errors/error_details.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "google/protobuf/util/time_util.h"

namespace headstart {
namespace {

using google::protobuf::util::TimeUtil;

constexpr absl::Duration kDiskRetry = absl::Seconds(5);  // when the account may be written again

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  return TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

v1::UsageEntry ToEntry(RequestRecord record) {
  v1::UsageEntry entry;
  entry.set_kind(record.kind == RequestKind::kGenerate ? v1::USAGE_KIND_GENERATE : v1::USAGE_KIND_CREATE_PREFIX);
  entry.set_tenant(std::move(record.tenant));
  entry.set_request_id(std::move(record.request_id));
  entry.set_key_id(std::move(record.key_id));
  entry.set_model(std::move(record.model));
  entry.mutable_labels()->insert(record.labels.begin(), record.labels.end());
  *entry.mutable_start_time() = ToTimestamp(record.start);
  *entry.mutable_end_time() = ToTimestamp(record.end);
  *entry.mutable_update_time() = entry.end_time();
  entry.set_finish_reason(ToFinishReason(record.reason));
  *entry.mutable_usage() = ToUsage(record.usage);
  entry.set_attempts(1);
  entry.set_storage_token_seconds(0);
  entry.set_request_digest(record.request_digest);
  if (record.kind == RequestKind::kGenerate) {
    *entry.mutable_time_to_first_token() =
        TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(record.timings.ttft));
  }
  return entry;
}

v1::UsageEntry ToEntry(const StorageRecord& record) {
  v1::UsageEntry entry;
  entry.set_kind(v1::USAGE_KIND_STORAGE);
  entry.set_tenant(record.tenant);
  entry.set_request_id(record.request_id);
  entry.set_model(record.model);
  *entry.mutable_start_time() = ToTimestamp(record.start);
  *entry.mutable_end_time() = ToTimestamp(record.end);
  *entry.mutable_update_time() = entry.end_time();
  *entry.mutable_usage() = ToUsage(GenerationUsage());
  entry.mutable_usage()->clear_miss_reason();
  entry.set_attempts(1);
  entry.set_storage_token_seconds(record.token_seconds);
  return entry;
}

absl::Status IdReused(const std::string& id) {
  return WithReason(
      InvalidField("request_id", fmt::format("is \"{}\", which was used before for another request; give each request "
                                             "an id of its own",
                                             id)),
      "REQUEST_ID_REUSED");
}

absl::Status IdExhausted(const std::string& id, int attempts) {
  return WithReason(
      InvalidField("request_id", fmt::format("is \"{}\", which was sent {} times; use a new one", id, attempts)),
      "REQUEST_ID_EXHAUSTED");
}

absl::Status CannotWrite() {
  return WithRetryAfter(WithReason(absl::UnavailableError("the account cannot be written and too much waits to be; "
                                                          "see the server's log, and try again later"),
                                   "LEDGER_UNAVAILABLE"),
                        kDiskRetry);
}

absl::Status BudgetExhausted(const std::string& tenant, const TenantBudget& budget, int64_t spent, absl::Time end,
                             absl::Time now) {
  const std::string message = fmt::format(
      "tenant \"{}\" has spent {} {} of its budget of {} for this {}; requests are taken again at {}, or once the "
      "budget is raised",
      tenant, FormatNanos(spent), budget.currency, FormatNanos(*budget.hard_nanos),
      budget.period == BudgetPeriod::kDay ? "day" : "month",
      absl::FormatTime(absl::RFC3339_sec, end, absl::UTCTimeZone()));
  absl::Status status = WithReason(absl::ResourceExhaustedError(message), "BUDGET_EXHAUSTED");
  return WithRetryAfter(WithQuota(std::move(status), fmt::format("tenant:{}", tenant)), end - now);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LedgerAccountant>> LedgerAccountant::Open(LedgerAccountantOptions options) {
  std::unique_ptr<LedgerAccountant> accountant(new LedgerAccountant(std::move(options)));
  LedgerOptions ledger_options = accountant->options_.ledger;
  ledger_options.listener = accountant.get();
  auto ledger = Ledger::Open(std::move(ledger_options));
  if (!ledger.ok()) return ledger.status();
  accountant->ledger_ = *std::move(ledger);
  if (absl::Status read = accountant->ReadSpend(); !read.ok()) return read;
  return accountant;
}

absl::Status LedgerAccountant::ReadSpend() {
  const Period month = PeriodAt(BudgetPeriod::kMonth, options_.ledger.now());
  return ledger_->ReadHours(month.start, absl::InfiniteFuture(),
                            [this](const UsageHour& hour, const v1::UsageTotals& totals) {
                              spend_.Add(hour.tenant, hour.currency, hour.start, totals.charge().cost_nanos());
                              return true;
                            });
}

absl::Status LedgerAccountant::Admit(const AdmissionRequest& request) const {
  if (!ledger_->accepting()) return CannotWrite();
  if (absl::Status status = CheckRequestId(request); !status.ok()) return status;
  return CheckBudget(request.tenant);
}

// A ledger that cannot be read lets the request in: should its id be used already, posting finds out.
absl::Status LedgerAccountant::CheckRequestId(const AdmissionRequest& request) const {
  if (request.request_id.empty()) return absl::OkStatus();
  const auto entry = ledger_->Find(request.tenant, request.request_id);
  if (!entry.ok()) return absl::OkStatus();
  if (entry->request_digest() != request.request_digest) return IdReused(request.request_id);
  if (entry->attempts() >= options_.max_attempts) return IdExhausted(request.request_id, entry->attempts());
  return absl::OkStatus();
}

absl::Status LedgerAccountant::CheckBudget(const std::string& tenant) const {
  if (options_.budgets == nullptr) return absl::OkStatus();
  const auto budget = options_.budgets->BudgetOf(tenant);
  if (!budget || !budget->hard_nanos) return absl::OkStatus();
  const absl::Time now = options_.ledger.now();
  const Period period = PeriodAt(budget->period, now);
  const int64_t spent = spend_.In(tenant, budget->currency, period);
  if (spent < *budget->hard_nanos) return absl::OkStatus();
  return BudgetExhausted(tenant, *budget, spent, period.end, now);
}

bool LedgerAccountant::IsOverSoftBudget(const std::string& tenant) const {
  if (options_.budgets == nullptr) return false;
  const auto budget = options_.budgets->BudgetOf(tenant);
  if (!budget || !budget->soft_nanos) return false;
  return spend_.In(tenant, budget->currency, PeriodAt(budget->period, options_.ledger.now())) >= *budget->soft_nanos;
}

void LedgerAccountant::Price(v1::UsageEntry& entry, absl::Time time) const {
  *entry.mutable_charge() = NoCharge();
  if (options_.prices == nullptr) return;
  const auto book = options_.prices->current();
  const PriceVersion& version = book->At(time);
  if (const v1::TokenPrices* prices = version.Of(entry.model()); prices != nullptr) {
    *entry.mutable_prices() = *prices;
    *entry.mutable_charge() = ChargeOf(entry.usage(), entry.storage_token_seconds(), *prices);
  }
  entry.mutable_charge()->set_currency(book->currency());
  entry.mutable_charge()->set_price_version(version.name);
}

void LedgerAccountant::Record(RequestRecord record, Recorded done) {
  const absl::Time start = record.start;
  v1::UsageEntry entry = ToEntry(std::move(record));
  Price(entry, start);
  ledger_->Post(std::move(entry), [this, done = std::move(done)](const PostResult& result) {
    if (!done) return;
    v1::Receipt receipt;
    receipt.set_recorded(result.recorded);
    receipt.set_repeated(result.stored.repeated);
    *receipt.mutable_charge() = result.stored.entry.charge();
    receipt.set_budget_warning(IsOverSoftBudget(result.stored.entry.tenant()));
    done(receipt);
  });
}

void LedgerAccountant::RecordStorage(const StorageRecord& record) {
  v1::UsageEntry entry = ToEntry(record);
  Price(entry, record.start);
  ledger_->Post(std::move(entry), nullptr);
}

v1::Charge LedgerAccountant::Predict(const std::string& model, const GenerationUsage& usage) const {
  v1::UsageEntry entry;
  entry.set_model(model);
  *entry.mutable_usage() = ToUsage(usage);
  Price(entry, options_.ledger.now());
  return entry.charge();
}

// A budget is used up by what waits for the disk, too, at first as if it were no repetition.
void LedgerAccountant::OnDeferred(const v1::UsageEntry& posted) {
  spend_.Add(posted.tenant(), posted.charge().currency(), ledger_internal::EndOf(posted), posted.charge().cost_nanos());
}

void LedgerAccountant::OnStored(const v1::UsageEntry& posted, const StoredEntry& stored, bool deferred) {
  const std::string& tenant = stored.entry.tenant();
  const v1::Charge& added = stored.added.charge();
  if (deferred) {
    spend_.Add(tenant, posted.charge().currency(), ledger_internal::EndOf(posted), -posted.charge().cost_nanos());
  }
  spend_.Add(tenant, added.currency(), ledger_internal::EndOf(stored.entry), added.cost_nanos());
  if (options_.observer != nullptr) options_.observer->OnBilled(stored.entry, stored.added);
}

}  // namespace headstart
