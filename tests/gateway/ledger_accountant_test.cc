// The accountant over a ledger: who is let in, what receipts say, what observers hear.

#include "gateway/ledger/ledger_accountant.h"

#include <future>
#include <optional>

#include "gateway/accounting/price_book.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/errors/type_url.h"
#include "gateway/ledger/usage_totals.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_testing.h"
#include "tests/testing/faulty_file_system.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kBook[] = R"(
currency: USD
versions:
  - {version: morning, effective_from: 2026-01-01T00:00:00Z, models: {m: {input: 1, cached_input: 0.1, output: 10}}}
  - {version: noon, effective_from: 2026-11-30T12:00:00Z, models: {m: {input: 2, cached_input: 0.1, output: 10}}}
)";

template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  google::rpc::Status wire;
  if (!wire.ParseFromString(ToGrpcStatus(status).error_details())) return std::nullopt;
  for (const auto& any : wire.details()) {
    Detail detail;
    if (any.type_url() == TypeUrl<Detail>() && detail.ParseFromString(any.value())) return detail;
  }
  return std::nullopt;
}

std::string ReasonOf(const absl::Status& status) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  return info ? info->reason() : "";
}

class OneBudget final : public BudgetSource {
 public:
  std::optional<TenantBudget> BudgetOf(const std::string& tenant) const override {
    return tenant == "acme" ? budget : std::nullopt;
  }
  std::optional<TenantBudget> budget;
};

class SummingObserver final : public BillingObserver {
 public:
  void OnBilled(const v1::UsageEntry&, const v1::UsageTotals& added) override { Add(added, sum); }
  v1::UsageTotals sum;
};

class LedgerAccountantTest : public ::testing::Test {
 protected:
  LedgerAccountantTest() {
    auto prices = LoadedPrices::Open({WriteBook()}, PriceBookParser("m"), [](FileNews, const std::string&) {});
    EXPECT_OK(prices);
    prices_ = *std::move(prices);
    Open();
  }

  std::string WriteBook() {
    const std::string path = folder_.Path("prices.yaml");
    EXPECT_TRUE(rocksdb::WriteStringToFile(rocksdb::Env::Default(), kBook, path).ok());
    return path;
  }

  void Open() {
    accountant_.reset();
    LedgerAccountantOptions options;
    options.ledger.directory = folder_.Path("ledger");
    options.ledger.env = files_.env();
    options.ledger.now = [this] { return now_; };
    options.ledger.first_retry = options.ledger.longest_retry = absl::Hours(10);
    options.ledger.max_waiting = 2;
    options.prices = prices_.get();
    options.budgets = &budgets_;
    options.observer = &observer_;
    options.max_attempts = 3;
    auto opened = LedgerAccountant::Open(std::move(options));
    ASSERT_OK(opened);
    accountant_ = *std::move(opened);
  }

  // A thousand tokens at the price of the morning: 0.001; at noon's: 0.002.
  RequestRecord Request(const std::string& id, uint64_t digest = 1) const {
    RequestRecord record;
    record.request_id = id;
    record.request_digest = digest;
    record.tenant = "acme";
    record.model = "m";
    record.start = now_;
    record.end = now_ + absl::Seconds(1);
    record.usage.prompt_tokens = record.usage.computed_prompt_tokens = 1000;
    return record;
  }
  v1::Receipt Record(RequestRecord record) {
    std::promise<v1::Receipt> promise;
    accountant_->Record(std::move(record), [&promise](const v1::Receipt& receipt) { promise.set_value(receipt); });
    return promise.get_future().get();
  }
  absl::Status Admit(const std::string& id = "", uint64_t digest = 1, const std::string& tenant = "acme") {
    return accountant_->Admit({.tenant = tenant, .request_id = id, .request_digest = digest});
  }

  TemporaryFolder folder_;
  FaultyFileSystem files_;
  absl::Time now_ = Ten();
  OneBudget budgets_;
  SummingObserver observer_;
  std::unique_ptr<LoadedPrices> prices_;
  std::unique_ptr<LedgerAccountant> accountant_;
};

TEST_F(LedgerAccountantTest, ReceiptSaysWhatWasCharged) {
  const v1::Receipt receipt = Record(Request("r1"));
  EXPECT_TRUE(receipt.recorded());
  EXPECT_FALSE(receipt.repeated());
  EXPECT_TRUE(receipt.has_budget_warning());
  EXPECT_EQ(receipt.charge().cost_nanos(), 1'000'000);
  EXPECT_EQ(receipt.charge().currency(), "USD");
  EXPECT_EQ(receipt.charge().price_version(), "morning");
  const v1::Receipt again = Record(Request("r1"));
  EXPECT_TRUE(again.repeated());
  EXPECT_EQ(again.charge().cost_nanos(), 1'000'000);
}

// A6: each record carries the version that was in force when its request began, and keeps it.
TEST_F(LedgerAccountantTest, PriceIsTheOneInForceAtTheStart) {
  now_ = Ten() + absl::Hours(2) - absl::Seconds(1);
  RequestRecord before = Request("before");
  before.end = now_ + absl::Minutes(5);
  EXPECT_EQ(Record(before).charge().price_version(), "morning");
  now_ += absl::Seconds(1);
  EXPECT_EQ(Record(Request("after")).charge().cost_nanos(), 2'000'000);
  RequestRecord retried = before;
  retried.start = now_;
  retried.usage.completion_tokens = 7;
  const v1::Receipt receipt = Record(retried);
  EXPECT_EQ(receipt.charge().price_version(), "morning");
  EXPECT_EQ(receipt.charge().cost_nanos(), 1'000'000 + 7 * 10'000);
}

TEST_F(LedgerAccountantTest, PredictionUsesThePricesOfNow) {
  EXPECT_EQ(accountant_->Predict("m", Request("").usage).cost_nanos(), 1'000'000);
  now_ = Ten() + absl::Hours(2);
  EXPECT_EQ(accountant_->Predict("m", Request("").usage).cost_nanos(), 2'000'000);
}

// A1: what observers hear adds up to the ledger.
TEST_F(LedgerAccountantTest, ObserverHearsWhatTheLedgerSums) {
  for (const char* id : {"a", "b", "a", "c"}) Record(Request(id));
  Record(Request("a", 2));
  v1::UsageTotals sum;
  for (const auto& entry : AllRecords(accountant_->ledger())) Add(TotalsOf(entry), sum);
  EXPECT_EQ(Text(observer_.sum), Text(sum));
  EXPECT_EQ(sum.requests(), 4);
}

TEST_F(LedgerAccountantTest, IdOfAnotherRequestIsRefused) {
  Record(Request("r1", 1));
  EXPECT_OK(Admit("r1", 1));
  EXPECT_OK(Admit("r1", 2, "globex"));
  const absl::Status refused = Admit("r1", 2);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("used before for another request")));
  EXPECT_EQ(ReasonOf(refused), "REQUEST_ID_REUSED");
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(refused)->field_violations(0).field(), "request_id");
}

TEST_F(LedgerAccountantTest, IdIsExhaustedAfterSoManyAttempts) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(Admit("r1"));
    Record(Request("r1"));
  }
  EXPECT_EQ(ReasonOf(Admit("r1")), "REQUEST_ID_EXHAUSTED");
  EXPECT_OK(Admit());
}

TEST_F(LedgerAccountantTest, HardBudgetRefusesAndSoftOneWarns) {
  budgets_.budget = {.period = BudgetPeriod::kDay, .currency = "USD", .soft_nanos = 2'000'000, .hard_nanos = 3'000'000};
  EXPECT_FALSE(Record(Request("1")).budget_warning());
  EXPECT_TRUE(Record(Request("2")).budget_warning());
  EXPECT_OK(Admit());
  Record(Request("3"));
  const absl::Status refused = Admit();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted,
                                AllOf(HasSubstr("0.003 USD"), HasSubstr("2026-12-01T00:00:00"))));
  EXPECT_EQ(ReasonOf(refused), "BUDGET_EXHAUSTED");
  EXPECT_EQ(DetailOf<google::rpc::QuotaFailure>(refused)->violations(0).subject(), "tenant:acme");
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(refused)->retry_delay().seconds(), 14 * 3600);
  EXPECT_OK(Admit("", 1, "globex"));
  Open();  // what was spent is read from the ledger
  EXPECT_FALSE(Admit().ok());
  now_ = Ten() + absl::Hours(14);
  EXPECT_OK(Admit());
  budgets_.budget->period = BudgetPeriod::kMonth;  // December has begun
  EXPECT_OK(Admit());
  now_ = Ten() + absl::Hours(13);
  EXPECT_FALSE(Admit().ok());
}

TEST_F(LedgerAccountantTest, BudgetCountsWhatWaitsForTheDiskOnce) {
  budgets_.budget = {.period = BudgetPeriod::kMonth, .currency = "USD", .hard_nanos = 2'000'000};
  Record(Request("r1"));
  files_.Fail({.operation = IoOperation::kWrite});
  EXPECT_FALSE(Record(Request("r1")).recorded());  // not known to be a repetition yet
  EXPECT_EQ(ReasonOf(Admit()), "BUDGET_EXHAUSTED");
  files_.Heal();
  EXPECT_TRUE(accountant_->ledger().RetryNow());
  EXPECT_OK(Admit());
}

TEST_F(LedgerAccountantTest, NobodyIsLetInOnceTooMuchWaits) {
  files_.Fail({.operation = IoOperation::kWrite});
  Record(Request("1"));
  EXPECT_OK(Admit("1", 9));  // the ledger cannot say: posting will find out
  Record(Request("2"));
  accountant_->ledger().Flush();
  const absl::Status refused = Admit();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(refused), "LEDGER_UNAVAILABLE");
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(refused).has_value());
  files_.Heal();
}

TEST_F(LedgerAccountantTest, StorageIsBilledUnderItsOwnId) {
  const StorageRecord record = {.request_id = "storage/tenant/p/1/2",
                                .tenant = "acme",
                                .model = "m",
                                .start = now_,
                                .end = now_ + absl::Minutes(30),
                                .token_seconds = 1800};
  accountant_->RecordStorage(record);
  accountant_->RecordStorage(record);
  accountant_->ledger().Flush();
  const auto entries = AllRecords(accountant_->ledger());
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].kind(), v1::USAGE_KIND_STORAGE);
  EXPECT_EQ(entries[0].storage_token_seconds(), 1800);
  EXPECT_EQ(TotalsOf(entries[0]).requests(), 0);
}

TEST(LedgerAccountantWithoutPricesTest, NothingCosts) {
  auto accountant = LedgerAccountant::Open({});
  ASSERT_OK(accountant);
  std::promise<v1::Receipt> promise;
  RequestRecord record;
  record.usage.prompt_tokens = record.usage.computed_prompt_tokens = 5;
  (*accountant)->Record(record, [&promise](const v1::Receipt& receipt) { promise.set_value(receipt); });
  const v1::Receipt receipt = promise.get_future().get();
  EXPECT_TRUE(receipt.recorded());
  EXPECT_EQ(receipt.charge().currency(), "");
  EXPECT_TRUE(receipt.charge().has_cost_nanos());
  EXPECT_EQ(receipt.charge().cost_nanos(), 0);
}

}  // namespace
}  // namespace headstart::testing
