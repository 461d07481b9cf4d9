// CanonicalTools of chat_template.h.

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/text/template/chat_template.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kFirstKeys = {"type", "function", "name", "description", "parameters"};

// Deeper than any schema; what lies below keeps its order rather than exhaust the stack.
constexpr int kMaxDepth = 256;

size_t RankOf(std::string_view key) {
  return static_cast<size_t>(std::find(kFirstKeys.begin(), kFirstKeys.end(), key) - kFirstKeys.begin());
}

bool KeyBefore(std::string_view a, std::string_view b) {
  const size_t rank_a = RankOf(a), rank_b = RankOf(b);
  return rank_a != rank_b ? rank_a < rank_b : a < b;
}

Json Canonical(const Json& json, int depth);

Json CanonicalObject(const Json& object, int depth) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  std::sort(keys.begin(), keys.end(), KeyBefore);
  Json sorted = Json::object();
  for (const std::string& key : keys) sorted.push_back({key, Canonical(object.at(key), depth + 1)});
  return sorted;
}

Json Canonical(const Json& json, int depth) {
  if (depth > kMaxDepth || !json.is_structured()) return json;
  if (json.is_object()) return CanonicalObject(json, depth);
  Json items = Json::array();
  for (const Json& item : json) items.push_back(Canonical(item, depth + 1));
  return items;
}

}  // namespace

Json CanonicalTools(const Json& tools) { return Canonical(tools, 0); }

}  // namespace headstart
