#include "gateway/openai/json_scan.h"

#include <algorithm>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

constexpr size_t kMaxExtentDepth = 64;

}  // namespace

absl::Status CheckJsonSize(std::string_view text, const JsonLimits& limits) {
  int depth = 0;
  int deepest = 0;
  int64_t containers = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '}' || c == ']') --depth;
    if (c != '{' && c != '[') continue;
    ++containers;
    deepest = std::max(deepest, ++depth);
  }
  if (deepest > limits.max_depth) {
    return OverLimit("body", fmt::format("nests {} levels deep; at most {} are taken", deepest, limits.max_depth));
  }
  if (containers > limits.max_containers) {
    return OverLimit("body",
                     fmt::format("has {} objects and lists; at most {} are taken", containers, limits.max_containers));
  }
  return absl::OkStatus();
}

JsonExtent::End JsonExtent::Push(char next) {
  if (in_string_) {
    const bool ends = next == '"' && !escaped_;
    escaped_ = next == '\\' && !escaped_;
    in_string_ = !ends;
    return End::kMore;
  }
  if (next == '"') in_string_ = true;
  if (next == '{' || next == '[') {
    if (open_.size() == kMaxExtentDepth) return End::kBad;
    open_ += next == '{' ? '}' : ']';
  }
  if (next != '}' && next != ']') return open_.empty() ? End::kBad : End::kMore;
  if (open_.empty() || open_.back() != next) return End::kBad;
  open_.pop_back();
  return open_.empty() ? End::kComplete : End::kMore;
}

std::string JsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace headstart
