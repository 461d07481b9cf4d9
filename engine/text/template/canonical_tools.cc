// CanonicalTools of chat_template.h.

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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

using Member = Json::object_t::value_type;

bool Before(const Member* a, const Member* b) {
  const size_t rank_a = RankOf(a->first), rank_b = RankOf(b->first);
  return rank_a != rank_b ? rank_a < rank_b : a->first < b->first;
}

Json Canonical(const Json& json, int depth);

// Its keys are known to differ: neither finding one nor adding one looks through the others, which would take a time
// that grows with the square of their number.
Json CanonicalObject(const Json& object, int depth) {
  std::vector<const Member*> members;
  for (const Member& member : object.get_ref<const Json::object_t&>()) members.push_back(&member);
  std::sort(members.begin(), members.end(), Before);
  Json sorted = Json::object();
  auto& target = sorted.get_ref<Json::object_t&>();
  target.reserve(members.size());
  for (const Member* member : members) target.emplace_back(member->first, Canonical(member->second, depth + 1));
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
