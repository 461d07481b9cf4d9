// Usage over the API: who sees what, groups, pages, and the stream of records.

#include "gateway/services/usage_service.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gateway/accounting/no_account.h"
#include "gateway/services/worker_pool.h"
#include "gmock/gmock.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/ledger_testing.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Stub = v1::UsageService::Stub;

class UsageServiceTest : public ::testing::Test {
 protected:
  UsageServiceTest() {
    ledger_ = *Ledger::Open({});
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_.emplace(context_, *ledger_));
    server_ = builder.BuildAndStart();
    stub_ = v1::UsageService::NewStub(server_->InProcessChannel({}));
  }
  ~UsageServiceTest() override { server_->Shutdown(); }

  void Post(const EntrySpec& spec) { testing::Post(*ledger_, MakeEntry(spec)); }

  grpc::Status List(const v1::ListUsageRequest& request, const std::string& caller = "operator") {
    listed_.Clear();
    return Call(*stub_, &Stub::ListUsage, request, listed_, caller);
  }
  // "tenant key model label hour: requests" of each group.
  std::vector<std::string> Groups(const v1::ListUsageRequest& request, const std::string& caller = "operator") {
    const grpc::Status status = List(request, caller);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> groups;
    for (const auto& group : listed_.groups()) {
      groups.push_back(fmt::format("{}|{}|{}|{}|{}: {}", group.tenant(), group.key_id(), group.model(), group.label(),
                                   group.has_start_time() ? (group.start_time().seconds() - Start()) / 3600 : -1,
                                   group.totals().requests()));
    }
    return groups;
  }
  static int64_t Start() { return absl::ToUnixSeconds(Ten()); }

  struct Exported {
    std::vector<std::string> ids;
    grpc::Status status;
  };
  Exported Export(const v1::ExportUsageRequest& request, const std::string& caller = "operator") {
    grpc::ClientContext context;
    context.AddMetadata("authorization", caller);
    auto stream = stub_->ExportUsage(&context, request);
    Exported exported;
    v1::ExportUsageResponse page;
    while (stream->Read(&page)) {
      for (const auto& entry : page.entries()) exported.ids.push_back(entry.request_id());
    }
    exported.status = stream->Finish();
    return exported;
  }

  FakeEngine engine_;
  TokenAuthenticator authenticator_;
  RecordingObserver observer_;
  std::unique_ptr<Accountant> accountant_ = NoAccount();
  PromptHistory history_{PromptHistoryOptions()};
  WorkerPool workers_{2, 100};
  ServiceContext context_{.engine = engine_,
                          .authenticator = authenticator_,
                          .workers = workers_,
                          .observer = observer_,
                          .accountant = *accountant_,
                          .history = history_,
                          .random = SystemRandom(),
                          .model_name = "m",
                          .limits = {}};
  std::unique_ptr<Ledger> ledger_;
  std::optional<UsageService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Stub> stub_;
  v1::ListUsageResponse listed_;
};

v1::ListUsageRequest By(std::vector<v1::UsageDimension> dimensions, const std::string& label = "") {
  v1::ListUsageRequest request;
  for (const auto dimension : dimensions) request.add_group_by(dimension);
  request.set_label_key(label);
  return request;
}

TEST_F(UsageServiceTest, WithoutGroupsThereIsOneSum) {
  Post({.id = "1"});
  Post({.tenant = "globex", .id = "2"});
  EXPECT_THAT(Groups({}), ElementsAre("||||-1: 2"));
  ASSERT_THAT(listed_.totals(), SizeIs(1));
  EXPECT_EQ(Text(listed_.totals(0)), Text(listed_.groups(0).totals()));
  EXPECT_EQ(listed_.totals(0).usage().prompt_tokens(), 200);
  EXPECT_EQ(listed_.totals(0).charge().currency(), "USD");
  EXPECT_EQ(listed_.totals(0).charge().saved_nanos(),
            listed_.totals(0).charge().cost_without_cache_nanos() - listed_.totals(0).charge().cost_nanos());
  EXPECT_TRUE(listed_.totals(0).has_storage_token_seconds());
}

TEST_F(UsageServiceTest, EmptyLedgerHasNoGroups) {
  EXPECT_THAT(Groups({}), IsEmpty());
  EXPECT_THAT(listed_.totals(), IsEmpty());
}

TEST_F(UsageServiceTest, EveryDimensionGroups) {
  Post({.id = "1", .labels = {{"team", "x"}, {"app", "1"}}, .key_id = "web"});
  Post({.id = "2", .end = Ten() + absl::Hours(1), .labels = {{"team", "x"}}, .key_id = "batch"});
  Post({.id = "3", .end = Ten() + absl::Hours(14), .model = "n"});
  Post({.tenant = "globex", .id = "4"});
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_TENANT})), ElementsAre("acme||||-1: 3", "globex||||-1: 1"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_KEY})), ElementsAre("|batch|||-1: 1", "|web|||-1: 3"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_MODEL})), ElementsAre("||m||-1: 3", "||n||-1: 1"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_LABEL}, "team")), ElementsAre("||||-1: 2", "|||x|-1: 2"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_HOUR})), ElementsAre("||||0: 2", "||||1: 1", "||||14: 1"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_DAY})), ElementsAre("||||-10: 3", "||||14: 1"));
  EXPECT_THAT(Groups(By({v1::USAGE_DIMENSION_DAY, v1::USAGE_DIMENSION_HOUR, v1::USAGE_DIMENSION_TENANT})),
              ElementsAre("acme||||0: 1", "acme||||1: 1", "acme||||14: 1", "globex||||0: 1"));
}

TEST_F(UsageServiceTest, TimesAndFiltersChoose) {
  for (int hour = 0; hour < 4; ++hour) Post({.id = fmt::format("{}", hour), .end = Ten() + absl::Hours(hour)});
  Post({.id = "other", .key_id = "batch"});
  v1::ListUsageRequest request = By({v1::USAGE_DIMENSION_HOUR});
  request.mutable_start_time()->set_seconds(Start() + 3600 + 59);  // within the second hour, which counts whole
  request.mutable_end_time()->set_seconds(Start() + 3 * 3600);
  EXPECT_THAT(Groups(request), ElementsAre("||||1: 1", "||||2: 1"));
  request.mutable_end_time()->set_nanos(1);
  EXPECT_THAT(Groups(request), SizeIs(3));
  request = By({});
  request.set_key_id("batch");
  EXPECT_THAT(Groups(request), ElementsAre("||||-1: 1"));
  request.set_model("n");
  EXPECT_THAT(Groups(request), IsEmpty());
}

TEST_F(UsageServiceTest, TenantsSeeTheirOwn) {
  Post({.id = "1"});
  Post({.tenant = "globex", .id = "2"});
  const v1::ListUsageRequest by_tenant = By({v1::USAGE_DIMENSION_TENANT});
  EXPECT_THAT(Groups(by_tenant, "acme"), ElementsAre("acme||||-1: 1"));
  EXPECT_EQ(listed_.totals(0).requests(), 1);
  v1::ListUsageRequest others = by_tenant;
  others.set_tenant("globex");
  EXPECT_EQ(ReasonOf(List(others, "acme")), "NOT_AN_OPERATOR");
  EXPECT_THAT(Groups(others), ElementsAre("globex||||-1: 1"));
  v1::ExportUsageRequest exported;
  EXPECT_THAT(Export(exported, "globex").ids, ElementsAre("2"));
  exported.set_tenant("globex");
  EXPECT_EQ(ReasonOf(Export(exported, "acme").status), "NOT_AN_OPERATOR");
  EXPECT_EQ(List({}, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(UsageServiceTest, PagesNeitherRepeatNorSkipAndCarryTheWholeTotals) {
  for (int i = 0; i < 25; ++i) Post({.tenant = fmt::format("t{:02}", i), .id = "1"});
  v1::ListUsageRequest request = By({v1::USAGE_DIMENSION_TENANT});
  request.set_page_size(10);
  std::vector<std::string> all;
  do {
    const auto page = Groups(request);
    all.insert(all.end(), page.begin(), page.end());
    EXPECT_EQ(listed_.totals(0).requests(), 25 + (all.size() > 10));
    if (all.size() == 10) Post({.tenant = "t001", .id = "1"});  // before where the page ended
    request.set_page_token(listed_.next_page_token());
  } while (!request.page_token().empty());
  request.set_page_size(0);
  auto whole = Groups(request);
  std::erase(whole, "t001||||-1: 1");
  EXPECT_EQ(all, whole);
}

TEST_F(UsageServiceTest, TokenIsOfOneQuestion) {
  for (const char* tenant : {"a", "b", "c"}) Post({.tenant = tenant});
  v1::ListUsageRequest request = By({v1::USAGE_DIMENSION_TENANT});
  request.set_page_size(1);
  Groups(request);
  request.set_page_token(listed_.next_page_token());
  request.set_page_size(2);  // may change
  EXPECT_THAT(Groups(request), SizeIs(2));
  request.add_group_by(v1::USAGE_DIMENSION_KEY);
  EXPECT_EQ(FieldOf(List(request)), "page_token");
  request.set_page_token("rubbish");
  EXPECT_EQ(FieldOf(List(request)), "page_token");
}

TEST_F(UsageServiceTest, WrongFieldsAreNamed) {
  v1::ListUsageRequest request = By({v1::USAGE_DIMENSION_TENANT, v1::USAGE_DIMENSION_TENANT});
  EXPECT_EQ(FieldOf(List(request)), "group_by[0]");
  EXPECT_EQ(FieldOf(List(By({v1::USAGE_DIMENSION_UNSPECIFIED}))), "group_by[0]");
  EXPECT_EQ(FieldOf(List(By({v1::USAGE_DIMENSION_LABEL}))), "label_key");
  EXPECT_EQ(FieldOf(List(By({}, "team"))), "label_key");
  request = By({});
  request.set_page_size(-1);
  EXPECT_EQ(FieldOf(List(request)), "page_size");
  request = By({});
  request.mutable_start_time()->set_nanos(-1);
  EXPECT_EQ(FieldOf(List(request)), "start_time");
  request.mutable_start_time()->set_nanos(0);
  request.mutable_end_time()->set_seconds(-1);
  EXPECT_EQ(FieldOf(List(request)), "end_time");
  v1::ExportUsageRequest exported;
  exported.mutable_end_time()->set_nanos(-1);
  EXPECT_EQ(FieldOf(Export(exported).status), "end_time");
}

TEST_F(UsageServiceTest, ExportGivesEveryRecordOldestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(fmt::format("r{:04}", i));
    ledger_->Post(MakeEntry({.id = ids.back(), .end = Ten() + absl::Seconds(i)}), nullptr);
  }
  ledger_->Flush();
  EXPECT_EQ(Export({}).ids, ids);
  v1::ExportUsageRequest some;
  some.mutable_start_time()->set_seconds(Start() + 10);
  some.mutable_end_time()->set_seconds(Start() + 12);
  EXPECT_THAT(Export(some).ids, ElementsAre("r0010", "r0011"));
}

TEST_F(UsageServiceTest, ExportOfAClientThatGoesAwayEnds) {
  for (int i = 0; i < 5000; ++i) ledger_->Post(MakeEntry({.id = fmt::format("r{:04}", i)}), nullptr);
  ledger_->Flush();
  grpc::ClientContext context;
  context.AddMetadata("authorization", "operator");
  auto stream = stub_->ExportUsage(&context, {});
  v1::ExportUsageResponse page;
  ASSERT_TRUE(stream->Read(&page));
  context.TryCancel();
  while (stream->Read(&page)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace headstart::testing
