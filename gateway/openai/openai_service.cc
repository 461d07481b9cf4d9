#include "gateway/openai/openai_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "fmt/format.h"
#include "gateway/http/http_identity.h"
#include "gateway/openai/openai_call.h"
#include "gateway/openai/openai_errors.h"
#include "gateway/services/call_guard.h"
#include "gateway/services/inference_checks.h"
#include "gateway/services/limits.h"
#include "gateway/services/submit_errors.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kModelsPath = "/v1/models";

// Parsing so much takes less than a hand-over to a worker does, twice.
constexpr size_t kParsedAtOnceBytes = 32 << 10;

Json ModelJson(const ServiceContext& context, absl::Time started) {
  return {{"id", context.model_name},
          {"object", "model"},
          {"created", absl::ToUnixSeconds(started)},
          {"owned_by", "headstart"},
          {"max_model_len", context.engine.max_context_tokens()}};
}

// A folder's name, which becomes the model's, need not be UTF-8.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Ids of callers are taken when they are fit for logs and the account; a proxy's stranger ones are passed over.
void TakeRequestId(const HttpRequest& http, OpenAiRequest& request) {
  for (const std::string_view name : {"idempotency-key", "x-request-id"}) {
    const std::string id(http.Header(name));
    if (id.empty() || !CheckRequestId(id).ok()) continue;
    request.names.Set("request_id", name);
    return request.generate.set_request_id(id);
  }
}

// A web page may have its visitors' browsers send text or forms anywhere, but must ask before it sends JSON.
bool IsJson(const HttpRequest& request) {
  const std::string_view header = request.Header("content-type");
  const std::string_view type = header.substr(0, header.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(absl::string_view(type.data(), type.size())),
                                "application/json");
}

}  // namespace

OpenAiService::OpenAiService(const ServiceContext& context, const OpenAiOptions& options)
    : context_(context),
      options_(options),
      tool_call_format_(ResolveToolCallFormat(options.tool_call_format, context.engine.chat_template())),
      encoder_(context.engine, context.now),
      started_(context.now()) {}

void OpenAiService::AddTo(HttpRouter& router) {
  router.Add("GET", std::string(kModelsPath), [this](const auto& exchange) { ListModels(*exchange); });
  router.Add("GET", fmt::format("{}/*", kModelsPath), [this](const auto& exchange) { GetModel(*exchange); });
  router.Add("POST", "/v1/chat/completions", [this](const std::shared_ptr<HttpExchange>& exchange) {
    Complete(OpenAiApi::kChatCompletions, exchange);
  });
  router.Add("POST", "/v1/completions",
             [this](const std::shared_ptr<HttpExchange>& exchange) { Complete(OpenAiApi::kCompletions, exchange); });
}

void OpenAiService::ListModels(HttpExchange& exchange) const {
  const auto caller = AuthenticateHttp(context_.authenticator, exchange.request());
  if (!caller.ok()) return exchange.Send(OpenAiErrorResponse(caller.status()));
  const Json list = {{"object", "list"}, {"data", {ModelJson(context_, started_)}}};
  exchange.Send({.body = Dump(list)});
}

void OpenAiService::GetModel(HttpExchange& exchange) const {
  const auto caller = AuthenticateHttp(context_.authenticator, exchange.request());
  if (!caller.ok()) return exchange.Send(OpenAiErrorResponse(caller.status()));
  const std::string name = exchange.request().path.substr(kModelsPath.size() + 1);
  if (auto status = CheckModel(context_, name); !status.ok()) return exchange.Send(OpenAiErrorResponse(status));
  exchange.Send({.body = Dump(ModelJson(context_, started_))});
}

void OpenAiService::Complete(OpenAiApi api, const std::shared_ptr<HttpExchange>& exchange) const {
  const auto caller = AuthenticateHttp(context_.authenticator, exchange->request());
  if (!caller.ok()) return exchange->Send(OpenAiErrorResponse(caller.status()));
  if (!IsJson(exchange->request())) {
    return exchange->Send(HttpError(415, "the body must be JSON; send the header Content-Type: application/json"));
  }
  if (exchange->request().body.size() <= kParsedAtOnceBytes) return ParseAndStart(api, exchange, *caller);
  const bool taken =
      context_.workers.TryRun([this, api, exchange, caller = *caller] { ParseAndStart(api, exchange, caller); });
  if (!taken) exchange->Send(OpenAiErrorResponse(TooBusy()));
}

void OpenAiService::ParseAndStart(OpenAiApi api, const std::shared_ptr<HttpExchange>& exchange,
                                  const Caller& caller) const {
  auto request = ParseOpenAiRequest(api, exchange->TakeBody(), options_.max_choices);
  if (!request.ok()) return exchange->Send(OpenAiErrorResponse(request.status()));
  TakeRequestId(exchange->request(), *request);
  if (request->generate.request_id().empty() && request->choices > 1) {
    request->generate.set_request_id(fmt::format("r-{:016x}", context_.random()));
  }
  auto status = CheckGenerate(context_, request->generate);
  if (!status.ok()) return exchange->Send(OpenAiErrorResponse(status, request->names));
  OpenAiCall::Start({context_, encoder_, tool_call_format_}, exchange, caller, *std::move(request));
}

}  // namespace headstart
