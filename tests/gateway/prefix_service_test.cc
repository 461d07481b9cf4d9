// Registered prefixes over the API: what reaches the engine, who may do what, pages, and refusals.

#include <string>
#include <vector>

#include "gateway/services/request_digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Stub = v1::PrefixService::Stub;

v1::CreatePrefixRequest Prefix(const std::string& id, v1::PrefixScope scope = v1::PREFIX_SCOPE_TENANT) {
  v1::CreatePrefixRequest request;
  request.set_id(id);
  request.set_scope(scope);
  request.mutable_input()->mutable_text()->set_text("Where is the red lamp?");
  return request;
}

template <typename Request>
Request Named(const std::string& id, v1::PrefixScope scope = v1::PREFIX_SCOPE_TENANT) {
  Request request;
  request.set_id(id);
  request.set_scope(scope);
  return request;
}

class PrefixServiceTest : public ::testing::Test {
 protected:
  PrefixServiceTest() {
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    served_.emplace(std::move(engine), ServiceHostOptions{}, std::make_unique<TokenAuthenticator>());
  }

  grpc::Status Create(const v1::CreatePrefixRequest& request, const std::string& tenant = "acme") {
    return Call(served_->prefixes(), &Stub::CreatePrefix, request, created_, tenant);
  }
  grpc::Status Get(const v1::GetPrefixRequest& request, const std::string& tenant = "acme") {
    return Call(served_->prefixes(), &Stub::GetPrefix, request, got_, tenant);
  }
  grpc::Status Update(const v1::UpdatePrefixRequest& request, const std::string& tenant = "acme") {
    return Call(served_->prefixes(), &Stub::UpdatePrefix, request, updated_, tenant);
  }
  grpc::Status Delete(const v1::DeletePrefixRequest& request, const std::string& tenant = "acme") {
    v1::DeletePrefixResponse response;
    return Call(served_->prefixes(), &Stub::DeletePrefix, request, response, tenant);
  }
  // The ids of a page.
  std::vector<std::string> List(const v1::ListPrefixesRequest& request, const std::string& tenant = "acme") {
    listed_.Clear();
    const grpc::Status status = Call(served_->prefixes(), &Stub::ListPrefixes, request, listed_, tenant);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<std::string> ids;
    for (const auto& prefix : listed_.prefixes()) ids.push_back(prefix.id());
    return ids;
  }

  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
  v1::CreatePrefixResponse created_;
  v1::GetPrefixResponse got_;
  v1::UpdatePrefixResponse updated_;
  v1::ListPrefixesResponse listed_;
};

TEST_F(PrefixServiceTest, CreateComputesAndTellsWhatItCost) {
  v1::CreatePrefixRequest request = Prefix("lamp");
  request.set_display_name("the lamp");
  request.set_request_id("warm-1");
  ASSERT_TRUE(Create(request).ok());
  const PrefixSpec spec = engine_->created().at(0);
  EXPECT_EQ(spec.id, "lamp");
  EXPECT_EQ(spec.scope, Scope::Tenant("acme"));
  EXPECT_EQ(spec.tokens.size(), 6u);
  EXPECT_EQ(spec.display_name, "the lamp");
  EXPECT_EQ(spec.expires, absl::InfiniteFuture());
  EXPECT_EQ(created_.prefix().id(), "lamp");
  EXPECT_EQ(created_.prefix().scope(), v1::PREFIX_SCOPE_TENANT);
  EXPECT_EQ(created_.prefix().tokens(), 6);
  EXPECT_EQ(created_.prefix().pinned_tokens(), 6);
  EXPECT_EQ(created_.prefix().tokens_by_tier().device(), 6);
  EXPECT_TRUE(created_.prefix().tokens_by_tier().has_disk());
  EXPECT_EQ(created_.prefix().create_time().seconds(), 1'700'000'000);
  EXPECT_FALSE(created_.prefix().has_expire_time());
  EXPECT_EQ(created_.usage().computed_prompt_tokens(), 6);
  EXPECT_EQ(created_.timings().queue().nanos(), 3'000'000);
  EXPECT_EQ(created_.timings().time_to_first_token().nanos(), 7'000'000);
  EXPECT_EQ(created_.request_id(), "warm-1");
}

TEST_F(PrefixServiceTest, CreateHasItsPlaceInTheAccount) {
  ASSERT_TRUE(Create(Prefix("lamp")).ok());
  const RequestRecord record = served_->observer().WaitForRecords(1).at(0);
  EXPECT_EQ(record.kind, RequestKind::kCreatePrefix);
  EXPECT_EQ(record.tenant, "acme");
  EXPECT_EQ(record.usage.computed_prompt_tokens, 6);
  EXPECT_EQ(record.request_id, created_.request_id());
}

TEST_F(PrefixServiceTest, CreateThatIsCutOffSaysSoInTheAccount) {
  engine_->SetPrefixWork({.prompt_tokens = 4, .computed_prompt_tokens = 4});
  engine_->RefuseWith(absl::UnavailableError("the server stopped"));
  EXPECT_EQ(Create(Prefix("lamp")).error_code(), grpc::StatusCode::UNAVAILABLE);
  engine_->RefuseWith(absl::CancelledError("cancelled"));
  EXPECT_EQ(Create(Prefix("vase")).error_code(), grpc::StatusCode::CANCELLED);
  engine_->RefuseWith(absl::AlreadyExistsError("there is one"));
  EXPECT_EQ(Create(Prefix("cup")).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  const auto records = served_->observer().WaitForRecords(3);
  EXPECT_EQ(records.at(0).reason, FinishReason::kShutdown);
  EXPECT_EQ(records.at(1).reason, FinishReason::kCancelled);
  EXPECT_EQ(records.at(2).reason, FinishReason::kLength) << "all of it was computed";
}

// Else it would be its id's first attempt, and the ones that follow would be billed as it was.
TEST_F(PrefixServiceTest, CreateThatIsRefusedBeforeAnyWorkHasNoPlaceInTheAccount) {
  ASSERT_TRUE(Create(Prefix("lamp")).ok());
  EXPECT_EQ(Create(Prefix("lamp")).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  engine_->RefuseWith(absl::UnavailableError("queue full"));
  EXPECT_EQ(Create(Prefix("vase")).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(served_->accountant().WaitForRecords(1).size(), 1u);
  EXPECT_EQ(served_->observer().WaitForRecords(1).size(), 1u);
}

// A retry asks for the same prefix; another name, another owner or another kind of request is another request.
TEST_F(PrefixServiceTest, DigestTellsARepeatedRequestFromAnother) {
  const auto digest = [&](const v1::CreatePrefixRequest& request) {
    engine_->RefuseWith(absl::UnavailableError("queue full"));
    EXPECT_EQ(Create(request).error_code(), grpc::StatusCode::UNAVAILABLE);
    return served_->accountant().admissions().back().request_digest;
  };
  v1::CreatePrefixRequest request = Prefix("lamp");
  const uint64_t first = digest(request);
  request.mutable_ttl()->set_seconds(60);
  EXPECT_EQ(digest(request), first);
  EXPECT_NE(digest(Prefix("vase")), first);
  v1::GenerateRequest asked;
  EXPECT_NE(DigestOf(asked, engine_->created().front().tokens), first);
}

TEST_F(PrefixServiceTest, WithoutAnIdEachGetsItsOwn) {
  ASSERT_TRUE(Create(Prefix("")).ok());
  const std::string first = created_.prefix().id();
  ASSERT_TRUE(Create(Prefix("")).ok());
  EXPECT_NE(created_.prefix().id(), first);
  EXPECT_TRUE(Get(Named<v1::GetPrefixRequest>(first)).ok());
}

TEST_F(PrefixServiceTest, ExpiryIsToldAsATime) {
  v1::CreatePrefixRequest request = Prefix("lamp");
  request.mutable_ttl()->set_seconds(3600);
  const absl::Time before = absl::Now();
  ASSERT_TRUE(Create(request).ok());
  const absl::Time expires = engine_->created().at(0).expires;
  EXPECT_GE(expires, before + absl::Hours(1));
  EXPECT_LE(expires, absl::Now() + absl::Hours(1));
  EXPECT_EQ(created_.prefix().expire_time().seconds(), absl::ToUnixSeconds(expires));
  request = Prefix("lamp2");
  request.mutable_expire_time()->set_seconds(4'000'000'000);
  ASSERT_TRUE(Create(request).ok());
  EXPECT_EQ(engine_->created().at(1).expires, absl::FromUnixSeconds(4'000'000'000));
}

// What follows a system prompt is a user's message: the answer's beginning has no place between them.
TEST_F(PrefixServiceTest, ChatEndsBeforeTheAnswerUnlessToldOtherwise) {
  v1::CreatePrefixRequest request = Prefix("system");
  v1::ChatInput& chat = *request.mutable_input()->mutable_chat();
  v1::Message& message = *chat.add_messages();
  message.set_role("system");
  message.set_content("You are the inventory assistant.");
  ASSERT_TRUE(Create(request).ok());
  chat.set_add_generation_prompt(true);
  request.set_id("system-and-answer");
  ASSERT_TRUE(Create(request).ok());
  const auto created = engine_->created();
  EXPECT_LT(created.at(0).tokens.size(), created.at(1).tokens.size());
}

TEST_F(PrefixServiceTest, TenantsSeeTheirOwnAndThePublicOnes) {
  ASSERT_TRUE(Create(Prefix("mine")).ok());
  ASSERT_TRUE(Create(Prefix("theirs"), "globex").ok());
  ASSERT_TRUE(Create(Prefix("rules", v1::PREFIX_SCOPE_PUBLIC), "operator").ok());
  EXPECT_THAT(List({}), ElementsAre("mine", "rules"));
  EXPECT_EQ(listed_.prefixes(1).scope(), v1::PREFIX_SCOPE_PUBLIC);
  EXPECT_THAT(List({}, "globex"), ElementsAre("theirs", "rules"));
  EXPECT_TRUE(Get(Named<v1::GetPrefixRequest>("mine")).ok());
  EXPECT_TRUE(Get(Named<v1::GetPrefixRequest>("rules", v1::PREFIX_SCOPE_PUBLIC)).ok());
}

TEST_F(PrefixServiceTest, OthersPrefixesAreNotThere) {
  ASSERT_TRUE(Create(Prefix("theirs"), "globex").ok());
  EXPECT_EQ(ReasonOf(Get(Named<v1::GetPrefixRequest>("theirs"))), "PREFIX_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Delete(Named<v1::DeletePrefixRequest>("theirs"))), "PREFIX_NOT_FOUND");
  auto update = Named<v1::UpdatePrefixRequest>("theirs");
  update.mutable_no_expiry();
  EXPECT_EQ(ReasonOf(Update(update)), "PREFIX_NOT_FOUND");
  EXPECT_EQ(ReasonOf(Get(Named<v1::GetPrefixRequest>("theirs"), "operator")), "PREFIX_NOT_FOUND");
  EXPECT_TRUE(Create(Prefix("theirs")).ok());  // the same name in another scope
}

TEST_F(PrefixServiceTest, PublicPrefixesAreTheOperatorsToChange) {
  constexpr auto kPublic = v1::PREFIX_SCOPE_PUBLIC;
  ASSERT_TRUE(Create(Prefix("rules", kPublic), "operator").ok());
  EXPECT_EQ(engine_->created().at(0).scope, Scope::Public());
  auto update = Named<v1::UpdatePrefixRequest>("rules", kPublic);
  update.mutable_ttl()->set_seconds(60);
  const grpc::Status refused = Create(Prefix("more", kPublic));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ReasonOf(refused), "NOT_AN_OPERATOR");
  EXPECT_EQ(ReasonOf(Update(update)), "NOT_AN_OPERATOR");
  EXPECT_EQ(ReasonOf(Delete(Named<v1::DeletePrefixRequest>("rules", kPublic))), "NOT_AN_OPERATOR");
  EXPECT_EQ(engine_->created().size(), 1u);
  EXPECT_TRUE(Update(update, "operator").ok());
  EXPECT_TRUE(Delete(Named<v1::DeletePrefixRequest>("rules", kPublic), "operator").ok());
}

TEST_F(PrefixServiceTest, UpdateChangesTheExpiry) {
  ASSERT_TRUE(Create(Prefix("lamp")).ok());
  auto update = Named<v1::UpdatePrefixRequest>("lamp");
  EXPECT_EQ(FieldOf(Update(update)), "expiration");
  update.mutable_expire_time()->set_seconds(4'000'000'000);
  ASSERT_TRUE(Update(update).ok());
  EXPECT_EQ(updated_.prefix().expire_time().seconds(), 4'000'000'000);
  update.mutable_no_expiry();
  ASSERT_TRUE(Update(update).ok());
  ASSERT_TRUE(Get(Named<v1::GetPrefixRequest>("lamp")).ok());
  EXPECT_FALSE(got_.prefix().has_expire_time());
}

TEST_F(PrefixServiceTest, DeletedPrefixIsGone) {
  ASSERT_TRUE(Create(Prefix("lamp")).ok());
  EXPECT_EQ(ReasonOf(Create(Prefix("lamp"))), "PREFIX_EXISTS");
  ASSERT_TRUE(Delete(Named<v1::DeletePrefixRequest>("lamp")).ok());
  const grpc::Status again = Delete(Named<v1::DeletePrefixRequest>("lamp"));
  EXPECT_EQ(again.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(List({}), IsEmpty());
}

TEST_F(PrefixServiceTest, PagesNeitherRepeatNorSkip) {
  for (const char* id : {"d", "b", "a", "c"}) ASSERT_TRUE(Create(Prefix(id)).ok());
  for (const char* id : {"b", "a"}) ASSERT_TRUE(Create(Prefix(id, v1::PREFIX_SCOPE_PUBLIC), "operator").ok());
  v1::ListPrefixesRequest request;
  request.set_page_size(2);
  EXPECT_THAT(List(request), ElementsAre("a", "b"));
  request.set_page_token(listed_.next_page_token());
  ASSERT_TRUE(Delete(Named<v1::DeletePrefixRequest>("b")).ok());  // where the page before ended
  EXPECT_THAT(List(request), ElementsAre("c", "d"));
  request.set_page_token(listed_.next_page_token());
  EXPECT_THAT(List(request), ElementsAre("a", "b"));
  EXPECT_THAT(listed_.next_page_token(), IsEmpty());
  request.set_page_size(1 << 30);
  request.set_page_token("");
  EXPECT_EQ(List(request).size(), 5u);
}

TEST_F(PrefixServiceTest, PageThatIsNoneIsRefused) {
  v1::ListPrefixesRequest request;
  request.set_page_size(-1);
  EXPECT_EQ(FieldOf(Call(served_->prefixes(), &Stub::ListPrefixes, request, listed_, "acme")), "page_size");
  request.set_page_size(1);
  request.set_page_token("third");
  EXPECT_EQ(FieldOf(Call(served_->prefixes(), &Stub::ListPrefixes, request, listed_, "acme")), "page_token");
}

struct Refusal {
  std::function<void(v1::CreatePrefixRequest&)> spoil;
  std::string reason;
  std::string field;
};

TEST_F(PrefixServiceTest, WrongFieldsAreNamedBeforeAnyWork) {
  using Request = v1::CreatePrefixRequest;
  const std::vector<Refusal> refusals = {
      {[](Request& r) { r.set_id("a/b"); }, "INVALID_FIELD", "id"},
      {[](Request& r) { r.set_id("a b"); }, "INVALID_FIELD", "id"},
      {[](Request& r) { r.set_id(std::string(129, 'a')); }, "LIMIT_EXCEEDED", "id"},
      {[](Request& r) { r.set_scope(static_cast<v1::PrefixScope>(7)); }, "INVALID_FIELD", "scope"},
      {[](Request& r) { r.set_model("gpt"); }, "MODEL_NOT_FOUND", ""},
      {[](Request& r) { r.clear_input(); }, "INVALID_FIELD", "input"},
      {[](Request& r) { r.mutable_input()->mutable_tokens()->add_ids(-1); }, "INVALID_FIELD", "input.tokens.ids[0]"},
      {[](Request& r) { r.set_display_name(std::string(257, 'a')); }, "LIMIT_EXCEEDED", "display_name"},
      {[](Request& r) { r.mutable_ttl(); }, "INVALID_FIELD", "ttl"},
      {[](Request& r) { r.mutable_expire_time()->set_seconds(1); }, "INVALID_FIELD", "expire_time"},
      {[](Request& r) { r.set_request_id("a\nb"); }, "INVALID_FIELD", "request_id"},
  };
  for (const Refusal& refusal : refusals) {
    v1::CreatePrefixRequest request = Prefix("lamp");
    refusal.spoil(request);
    const grpc::Status status = Create(request);
    EXPECT_EQ(ReasonOf(status), refusal.reason) << status.error_message();
    EXPECT_EQ(FieldOf(status), refusal.field) << status.error_message();
  }
  EXPECT_THAT(engine_->created(), IsEmpty());
}

struct EngineRefusal {
  absl::Status from_engine;
  grpc::StatusCode code;
  std::string reason;
};

TEST_F(PrefixServiceTest, EnginesRefusalsBecomeWhatCallersCanActOn) {
  const std::vector<EngineRefusal> cases = {
      {absl::OutOfRangeError("5000 tokens"), grpc::StatusCode::INVALID_ARGUMENT, "PROMPT_TOO_LONG"},
      {absl::ResourceExhaustedError("pins"), grpc::StatusCode::RESOURCE_EXHAUSTED, "PINNED_SHARE_EXCEEDED"},
      {absl::UnavailableError("queue full"), grpc::StatusCode::UNAVAILABLE, "QUEUE_FULL"},
      {absl::UnimplementedError("not yet"), grpc::StatusCode::UNIMPLEMENTED, "UNIMPLEMENTED"},
  };
  for (const EngineRefusal& refusal : cases) {
    engine_->RefuseWith(refusal.from_engine);
    const grpc::Status status = Create(Prefix("lamp"));
    EXPECT_EQ(status.error_code(), refusal.code);
    EXPECT_EQ(ReasonOf(status), refusal.reason);
    EXPECT_THAT(status.error_message(), HasSubstr(std::string(refusal.from_engine.message())));
    EXPECT_EQ(DetailOf<google::rpc::QuotaFailure>(status).has_value(), refusal.reason == "PINNED_SHARE_EXCEEDED");
    EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(status).has_value(), refusal.reason == "QUEUE_FULL");
  }
}

}  // namespace
}  // namespace headstart::testing
