#include "gateway/http/internal/request_reader.h"

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <optional>
#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

namespace http = boost::beast::http;

std::string_view ToStd(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string Lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) { return Lower(text) == lower; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const bool complete = i + 2 < text.size();
    const int high = complete ? HexDigit(text[i + 1]) : -1;
    const int low = complete ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

RequestReader::Problem ProblemOf(const boost::system::error_code& error, const RequestReader::Limits& limits) {
  if (error == http::error::body_limit) {
    return {413,
            fmt::format("the body is larger than {} bytes, the most that this server takes", limits.max_body_bytes)};
  }
  if (error == http::error::header_limit) {
    return {431, fmt::format("the headers are larger than {} bytes, the most that this server takes",
                             limits.max_header_bytes)};
  }
  if (error == http::error::bad_version) return {505, "this server speaks HTTP/1.0 and HTTP/1.1"};
  return {400, fmt::format("this is not an HTTP/1.1 request: {}", error.message())};
}

}  // namespace

struct RequestReader::Parser : http::request_parser<http::string_body> {};

RequestReader::RequestReader(Limits limits) : limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->header_limit(static_cast<uint32_t>(limits.max_header_bytes));
  parser_->body_limit(static_cast<uint64_t>(limits.max_body_bytes));
}

RequestReader::~RequestReader() = default;

RequestReader::Fed RequestReader::Fail(int status, std::string message, size_t bytes) {
  problem_ = {status, std::move(message)};
  return {Progress::kFailed, bytes};
}

RequestReader::Fed RequestReader::Feed(std::string_view input) {
  size_t taken = 0;
  while (true) {
    boost::system::error_code error;
    const bool in_head = !parser_->is_header_done();
    const size_t bytes = parser_->put(boost::asio::buffer(input.substr(taken)), error);
    taken += bytes;
    if (in_head) header_bytes_ += static_cast<int64_t>(bytes);
    if (header_bytes_ > limits_.max_header_bytes) error = http::error::header_limit;
    if (error == http::error::need_more) {
      const bool fits = in_head || input.size() - taken < kMaxUnparsedBytes;  // of a head, Beast says so itself
      if (fits) return {Progress::kNeedMore, taken};
      return Fail(400, "a chunk's header, or a trailer, is too long", taken);
    }
    if (error) {
      const Problem problem = ProblemOf(error, limits_);
      return Fail(problem.status, problem.message, taken);
    }
    if (in_head && parser_->is_header_done() && !CheckHead()) return {Progress::kFailed, taken};
    if (parser_->is_done()) return {Progress::kDone, taken};
    if (parser_->is_header_done() && !std::exchange(head_said_, true)) return {Progress::kHead, taken};
    if (taken == input.size()) return {Progress::kNeedMore, taken};
  }
}

// What a lenient reading would let through, so that a proxy in front and this server could disagree on where a request
// ends.
bool RequestReader::CheckHead() {
  const auto& head = parser_->get();
  const auto encodings = head.equal_range(http::field::transfer_encoding);
  for (auto field = encodings.first; field != encodings.second; ++field) {
    if (EqualsIgnoringCase(ToStd(field->value()), "chunked")) continue;
    Fail(501, "the only Transfer-Encoding that this server takes is chunked", 0);
    return false;
  }
  const size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !is_http_1_0())) {
    Fail(400, "a request needs one header Host", 0);
    return false;
  }
  const std::string_view expectation = ToStd(head[http::field::expect]);
  if (!expectation.empty() && !EqualsIgnoringCase(expectation, "100-continue")) {
    Fail(417, "the only expectation that this server meets is 100-continue", 0);
    return false;
  }
  TakeFields();
  return SplitTarget(ToStd(head.target()));
}

// What comes after a chunked body is no header.
void RequestReader::TakeFields() {
  const auto& head = parser_->get();
  request_.method = std::string(ToStd(head.method_string()));
  for (const auto& field : head) {
    request_.headers.emplace_back(Lower(ToStd(field.name_string())), std::string(ToStd(field.value())));
  }
}

// "/path?query", or with a scheme and a host in front, which proxies are allowed to send.
bool RequestReader::SplitTarget(std::string_view target) {
  if (const size_t scheme = target.find("://"); scheme != std::string_view::npos && !target.starts_with('/')) {
    const size_t slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  const size_t mark = target.find('?');
  if (mark != std::string_view::npos) request_.query = std::string(target.substr(mark + 1));
  auto path = DecodePercent(target.substr(0, mark));
  if (!path) {
    Fail(400, "the path has a percent sign that no two hexadecimal digits follow, or %00", 0);
    return false;
  }
  request_.path = *std::move(path);
  return true;
}

bool RequestReader::keep_alive() const { return parser_->keep_alive(); }

bool RequestReader::is_http_1_0() const { return parser_->get().version() < 11; }

bool RequestReader::expects_continue() const { return !parser_->get()[http::field::expect].empty() && !is_http_1_0(); }

HttpRequest RequestReader::Take() {
  request_.body = std::move(parser_->get().body());
  return std::move(request_);
}

}  // namespace headstart
