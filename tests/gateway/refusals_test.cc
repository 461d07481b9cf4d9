// Requests that are refused: code, reason and field of each, before the engine hears of them.

#include <cmath>
#include <functional>
#include <string>

#include "gateway/errors/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;

struct Refusal {
  std::string name;
  std::function<void(v1::GenerateRequest&)> spoil;
  grpc::StatusCode code;
  std::string reason;
  std::string field;
};

void AddStops(v1::GenerateRequest& request, int count) {
  for (int i = 0; i < count; ++i) request.add_stop("x");
}

void SetTool(v1::GenerateRequest& request, const std::string& name, const std::string& parameters) {
  request.mutable_input()->Clear();
  request.mutable_input()->mutable_chat()->add_messages()->set_role("user");
  v1::Tool& tool = *request.mutable_input()->mutable_chat()->add_tools();
  tool.set_name(name);
  tool.set_parameters_json(parameters);
}

std::vector<Refusal> RefusedInputs() {
  using Request = v1::GenerateRequest;
  return {
      {"UnknownModel", [](Request& r) { r.set_model("gpt"); }, grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND", ""},
      {"NoInput", [](Request& r) { r.clear_input(); }, kInvalid, "INVALID_FIELD", "input"},
      {"EmptyText", [](Request& r) { r.mutable_input()->mutable_text()->clear_text(); }, kInvalid, "INVALID_FIELD",
       "input.text.text"},
      {"NoMessages", [](Request& r) { r.mutable_input()->mutable_chat(); }, kInvalid, "INVALID_FIELD",
       "input.chat.messages"},
      {"NoRole", [](Request& r) { r.mutable_input()->mutable_chat()->add_messages()->set_content("x"); }, kInvalid,
       "INVALID_FIELD", "input.chat.messages[0].role"},
      {"NoTokens", [](Request& r) { r.mutable_input()->mutable_tokens(); }, kInvalid, "INVALID_FIELD",
       "input.tokens.ids"},
      {"NegativeToken", [](Request& r) { r.mutable_input()->mutable_tokens()->add_ids(-1); }, kInvalid, "INVALID_FIELD",
       "input.tokens.ids[0]"},
      {"TokenPastVocabulary", [](Request& r) { r.mutable_input()->mutable_tokens()->add_ids(464); }, kInvalid,
       "INVALID_FIELD", "input.tokens.ids[0]"},
      {"PromptTooLarge", [](Request& r) { r.mutable_input()->mutable_text()->set_text(std::string(1001, 'x')); },
       kInvalid, "LIMIT_EXCEEDED", "input.text.text"},
      {"ChatTooLarge",
       [](Request& r) {
         for (int i = 0; i < 2; ++i) {
           v1::Message& message = *r.mutable_input()->mutable_chat()->add_messages();
           message.set_role("user");
           message.set_content(std::string(600, 'x'));
         }
       },
       kInvalid, "LIMIT_EXCEEDED", "input.chat"},
  };
}

std::vector<Refusal> RefusedFields() {
  using Request = v1::GenerateRequest;
  return {
      {"ZeroMaxTokens", [](Request& r) { r.set_max_tokens(0); }, kInvalid, "INVALID_FIELD", "max_tokens"},
      {"NegativeTemperature", [](Request& r) { r.mutable_sampling()->set_temperature(-1); }, kInvalid, "INVALID_FIELD",
       "sampling.temperature"},
      {"NanTopP", [](Request& r) { r.mutable_sampling()->set_top_p(std::nanf("")); }, kInvalid, "INVALID_FIELD",
       "sampling.top_p"},
      {"TooManyLogprobs",
       [](Request& r) {
         r.set_logprobs(true);
         r.set_top_logprobs(21);
       },
       kInvalid, "INVALID_FIELD", "top_logprobs"},
      {"TopLogprobsAlone", [](Request& r) { r.set_top_logprobs(2); }, kInvalid, "INVALID_FIELD", "top_logprobs"},
      {"EmptyStop", [](Request& r) { r.add_stop(""); }, kInvalid, "INVALID_FIELD", "stop[0]"},
      {"TooManyStops", [](Request& r) { AddStops(r, 17); }, kInvalid, "LIMIT_EXCEEDED", "stop"},
      {"StopTooLong", [](Request& r) { r.add_stop(std::string(257, 'x')); }, kInvalid, "LIMIT_EXCEEDED", "stop[0]"},
      {"TooManyStopTokens",
       [](Request& r) {
         for (int i = 0; i < 65; ++i) r.add_stop_token_ids(i);
       },
       kInvalid, "LIMIT_EXCEEDED", "stop_token_ids"},
      {"StopTokenPastVocabulary", [](Request& r) { r.add_stop_token_ids(464); }, kInvalid, "INVALID_FIELD",
       "stop_token_ids[0]"},
      {"TooManyLabels",
       [](Request& r) {
         for (int i = 0; i < 17; ++i) (*r.mutable_labels())[std::to_string(i)] = "x";
       },
       kInvalid, "LIMIT_EXCEEDED", "labels"},
      {"LabelTooLong", [](Request& r) { (*r.mutable_labels())["k"] = std::string(129, 'x'); }, kInvalid,
       "LIMIT_EXCEEDED", "labels.k"},
      {"LabelNameTooLong", [](Request& r) { (*r.mutable_labels())[std::string(129, 'x')] = "v"; }, kInvalid,
       "LIMIT_EXCEEDED", "labels"},
      {"LabelWithAStrangeName", [](Request& r) { (*r.mutable_labels())["a\nb"] = std::string(129, 'x'); }, kInvalid,
       "LIMIT_EXCEEDED", "labels"},
      {"RequestIdWithNewline", [](Request& r) { r.set_request_id("a\nb"); }, kInvalid, "INVALID_FIELD", "request_id"},
      {"RequestIdTooLong", [](Request& r) { r.set_request_id(std::string(129, 'x')); }, kInvalid, "LIMIT_EXCEEDED",
       "request_id"},
      {"PriorityThatIsNone", [](Request& r) { r.mutable_cache()->set_priority(static_cast<v1::CachePriority>(9)); },
       kInvalid, "INVALID_FIELD", "cache.priority"},
      {"ZeroTtl", [](Request& r) { r.mutable_cache()->mutable_ttl(); }, kInvalid, "INVALID_FIELD", "cache.ttl"},
      {"NegativeTtl", [](Request& r) { r.mutable_cache()->mutable_ttl()->set_seconds(-1); }, kInvalid, "INVALID_FIELD",
       "cache.ttl"},
      {"ToolWithoutName", [](Request& r) { SetTool(r, "", "{}"); }, kInvalid, "INVALID_FIELD",
       "input.chat.tools[0].name"},
      {"ToolSchemaIsNotJson", [](Request& r) { SetTool(r, "f", "{"); }, kInvalid, "INVALID_FIELD",
       "input.chat.tools[0].parameters_json"},
      {"ToolSchemaIsNotAnObject", [](Request& r) { SetTool(r, "f", "[]"); }, kInvalid, "INVALID_FIELD",
       "input.chat.tools[0].parameters_json"},
      {"ToolSchemaTooDeep",
       [](Request& r) {
         std::string text = "1";
         for (int i = 0; i < 70; ++i) text = "{\"a\":" + text + "}";
         SetTool(r, "f", text);
       },
       kInvalid, "INVALID_FIELD", "input.chat.tools[0].parameters_json"},
  };
}

std::vector<Refusal> Refusals() {
  std::vector<Refusal> all = RefusedInputs();
  const std::vector<Refusal> fields = RefusedFields();
  all.insert(all.end(), fields.begin(), fields.end());
  return all;
}

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, NamesReasonAndField) {
  ServiceHostOptions options;
  options.limits.max_prompt_bytes = 1000;
  ServedEngine served(std::make_unique<FakeEngine>(), options);
  v1::GenerateRequest request = TextRequest("Where is the red lamp?");
  GetParam().spoil(request);
  const Stream stream = Generate(served.stub(), request);
  EXPECT_TRUE(stream.events.empty());
  EXPECT_EQ(stream.status.error_code(), GetParam().code) << stream.status.error_message();
  EXPECT_EQ(ReasonOf(stream.status), GetParam().reason) << stream.status.error_message();
  EXPECT_EQ(FieldOf(stream.status), GetParam().field) << stream.status.error_message();
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(stream.status)->domain(), kErrorDomain);
}

INSTANTIATE_TEST_SUITE_P(All, RefusalTest, ::testing::ValuesIn(Refusals()),
                         [](const auto& refusal) { return refusal.param.name; });

struct EngineRefusal {
  absl::Status from_engine;
  grpc::StatusCode code;
  std::string reason;
  bool retry;
};

TEST(EngineRefusalTest, BecomesWhatCallersCanActOn) {
  const std::vector<EngineRefusal> cases = {
      {absl::OutOfRangeError("5000 tokens"), kInvalid, "PROMPT_TOO_LONG", false},
      {absl::FailedPreconditionError("pool"), grpc::StatusCode::FAILED_PRECONDITION, "CACHE_TOO_SMALL", false},
      {absl::UnavailableError("queue full"), grpc::StatusCode::UNAVAILABLE, "QUEUE_FULL", true},
  };
  for (const EngineRefusal& refusal : cases) {
    auto engine = std::make_unique<FakeEngine>();
    engine->RefuseWith(refusal.from_engine);
    ServedEngine served(std::move(engine));
    const Stream stream = Generate(served.stub(), TextRequest("x"));
    EXPECT_EQ(stream.status.error_code(), refusal.code);
    EXPECT_EQ(ReasonOf(stream.status), refusal.reason);
    EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(stream.status).has_value(), refusal.retry);
    EXPECT_EQ(stream.status.error_message(), std::string(refusal.from_engine.message()));
  }
}

TEST(AuthenticationTest, NoCredentialIsRefusedOnEveryCall) {
  ServedEngine served(std::make_unique<FakeEngine>(), {}, std::make_unique<TokenAuthenticator>());
  EXPECT_EQ(Generate(served.stub(), TextRequest("x")).status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  v1::CountTokensRequest count;
  v1::CountTokensResponse counted;
  grpc::ClientContext count_context;
  EXPECT_EQ(served.stub().CountTokens(&count_context, count, &counted).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  v1::ListModelsResponse models;
  grpc::ClientContext models_context;
  const grpc::Status status = served.stub().ListModels(&models_context, {}, &models);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(ReasonOf(status), "CREDENTIAL_MISSING");
  v1::ListPrefixesResponse prefixes;
  EXPECT_EQ(ReasonOf(Call(served.prefixes(), &v1::PrefixService::Stub::ListPrefixes, {}, prefixes)),
            "CREDENTIAL_MISSING");
  v1::GetStatusResponse server;
  EXPECT_EQ(ReasonOf(Call(served.admin(), &v1::AdminService::Stub::GetStatus, {}, server)), "CREDENTIAL_MISSING");
}

}  // namespace
}  // namespace headstart::testing
