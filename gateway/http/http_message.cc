#include "gateway/http/http_message.h"

#include <algorithm>
#include <array>

#include "nlohmann/json.hpp"

namespace headstart {
namespace {

constexpr auto kReasons = std::to_array<std::pair<int, std::string_view>>({
    {200, "OK"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
});

}  // namespace

std::string_view HttpReason(int status) {
  const auto* row = std::ranges::find(kReasons, status, &std::pair<int, std::string_view>::first);
  return row == kReasons.end() ? "Unknown" : row->second;
}

HttpResponse HttpError(int status, std::string_view message) {
  const nlohmann::ordered_json body = {{"error",
                                        {{"message", message},
                                         {"type", status >= 500 ? "server_error" : "invalid_request_error"},
                                         {"param", nullptr},
                                         {"code", nullptr}}}};
  return {.status = status, .body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"};
}

}  // namespace headstart
