#include "gateway/openai/openai_errors.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"
#include "gateway/errors/type_url.h"
#include "google/rpc/error_details.pb.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(TypeUrl<Detail>());
  Detail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool IsUsedUpQuota(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && DetailOf<google::rpc::QuotaFailure>(status).has_value();
}

std::string CodeOf(const absl::Status& status) {
  if (absl::IsUnauthenticated(status)) return "invalid_api_key";
  if (absl::IsResourceExhausted(status)) return IsUsedUpQuota(status) ? "insufficient_quota" : "rate_limit_exceeded";
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  const std::string reason = info ? Lower(info->reason()) : Lower(absl::StatusCodeToString(status.code()));
  return reason == "prompt_too_long" ? "context_length_exceeded" : reason;
}

std::string TypeOf(const absl::Status& status) {
  if (absl::IsResourceExhausted(status))
    return CodeOf(status) == "insufficient_quota" ? "insufficient_quota" : "requests";
  return HttpStatusOf(status.code()) >= 500 ? "server_error" : "invalid_request_error";
}

std::string FieldOf(const absl::Status& status) {
  if (const auto request = DetailOf<google::rpc::BadRequest>(status)) {
    if (!request->field_violations().empty()) return request->field_violations(0).field();
  }
  return CodeOf(status) == "model_not_found" ? "model" : "";
}

// A message that begins with the field's name gets OpenAI's name of it.
std::string MessageOf(const absl::Status& status, const std::string& field, const FieldNames& names) {
  std::string message(status.message());
  if (field.empty() || !message.starts_with(field)) return message;
  return names.Of(field) + message.substr(field.size());
}

Json ErrorJson(const absl::Status& status, const FieldNames& names) {
  const std::string field = FieldOf(status);
  return {{"error",
           {{"message", MessageOf(status, field, names)},
            {"type", TypeOf(status)},
            {"param", field.empty() ? Json(nullptr) : Json(names.Of(field))},
            {"code", CodeOf(status)}}}};
}

}  // namespace

std::string OpenAiErrorJson(const absl::Status& status, const FieldNames& names) {
  return ErrorJson(status, names).dump(-1, ' ', false, Json::error_handler_t::replace);
}

HttpResponse OpenAiErrorResponse(const absl::Status& status, const FieldNames& names) {
  HttpResponse response = {.status = HttpStatusOf(status.code()), .body = OpenAiErrorJson(status, names)};
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  // OpenAI's own clients try a 429 again unless they are told not to: what is used up stays so for long.
  if (IsUsedUpQuota(status)) response.headers.emplace_back("x-should-retry", "false");
  if (const auto retry = DetailOf<google::rpc::RetryInfo>(status)) {
    const bool has_part = retry->retry_delay().nanos() > 0;
    response.headers.emplace_back("Retry-After", std::to_string(retry->retry_delay().seconds() + (has_part ? 1 : 0)));
  }
  return response;
}

}  // namespace headstart
