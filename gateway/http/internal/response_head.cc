#include "gateway/http/internal/response_head.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "fmt/format.h"

namespace headstart {
namespace {

// Scripts and styles from files of this server alone: nothing that a page shows can run.
constexpr std::string_view kPagePolicy =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

std::string WithoutLineBreaks(std::string value) {
  std::ranges::replace_if(
      value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  return value;
}

bool Has(const HttpHeaders& headers, std::string_view name) {
  return std::ranges::any_of(headers, [name](const auto& header) { return header.first == name; });
}

void Append(std::string& head, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
}

void AppendPagePolicy(const HttpResponse& response, std::string& head) {
  if (!response.content_type.starts_with("text/html")) return;
  Append(head, "X-Frame-Options", "DENY");
  Append(head, "Referrer-Policy", "no-referrer");
  if (!Has(response.headers, "Content-Security-Policy")) Append(head, "Content-Security-Policy", kPagePolicy);
}

}  // namespace

std::string ResponseHead(const HttpResponse& response, const ResponseFraming& framing, absl::Time now,
                         const std::string& cors_origin) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, HttpReason(response.status));
  Append(head, "Date", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", now, absl::UTCTimeZone()));
  if (response.status != 204) Append(head, "Content-Type", response.content_type);
  Append(head, "X-Content-Type-Options", "nosniff");
  if (!cors_origin.empty()) {
    Append(head, "Access-Control-Allow-Origin", cors_origin);
    Append(head, "Vary", "Origin");
    Append(head, "Access-Control-Expose-Headers", "x-request-id, x-headstart-cached-tokens, retry-after");
  }
  AppendPagePolicy(response, head);
  for (const auto& [name, value] : response.headers) Append(head, name, WithoutLineBreaks(value));
  if (framing.content_length && response.status != 204) {
    Append(head, "Content-Length", std::to_string(*framing.content_length));
  }
  if (framing.chunked) Append(head, "Transfer-Encoding", "chunked");
  Append(head, "Connection", framing.keep_alive ? "keep-alive" : "close");
  return head + "\r\n";
}

}  // namespace headstart
