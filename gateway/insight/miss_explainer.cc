#include "gateway/insight/miss_explainer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "gateway/insight/prompt_trie.h"
#include "prefix_store/token_compare.h"

namespace headstart {
namespace {

// Places so close below each other are one: the digits of a date part at each of them.
constexpr int64_t kOnePlaceTokens = 16;
constexpr size_t kShownBefore = 24;
constexpr size_t kShownAfter = 12;
constexpr size_t kShownWays = 5;

using NodeId = PromptTrie::NodeId;
using Prompt = std::shared_ptr<const RememberedPrompt>;

// A prompt that left the way of others, and one of those others.
struct Parting {
  Prompt prompt;
  PromptTrie::Place place;
  std::span<const TokenId> other;  // tokens of an earlier prompt, from position 0
};

struct Places {
  PromptTrie trie;
  std::map<NodeId, std::vector<Parting>> partings;
};

std::span<const TokenId> From(std::span<const TokenId> tokens, int64_t position) {
  return tokens.subspan(std::min(tokens.size(), static_cast<size_t>(position)));
}

// A prompt before this one that shares as much with it and goes on differently.
std::span<const TokenId> AnotherWay(const PromptTrie& trie, const PromptTrie::Place& place, TokenId taken) {
  for (const NodeId child : trie.children(place.node)) {
    if (trie.tokens(child).front() != taken) return trie.example(child);
  }
  return {};
}

bool Misses(const RememberedPrompt& prompt) {
  return prompt.miss_reason != MissReason::kNone && prompt.miss_reason != MissReason::kShorterThanBlock;
}

// What such a prompt shares with earlier ones had been there.
bool WasCachedOnce(MissReason reason) {
  return reason == MissReason::kEvicted || reason == MissReason::kExpired || reason == MissReason::kTierError;
}

// A prompt that is a beginning of others is a miss like others, but says nothing about a place.
bool SaysWhere(const RememberedPrompt& prompt, const PromptTrie::Place& place) {
  return place.differs() && place.common_tokens > 0 && prompt.miss_reason != MissReason::kCachingOff;
}

void Count(const RememberedPrompt& prompt, int64_t computed_tokens, std::map<MissReason, MissGroup>& groups) {
  if (computed_tokens <= 0) return;
  MissGroup& group = groups[prompt.miss_reason];
  group.reason = prompt.miss_reason;
  ++group.requests;
  group.computed_tokens += computed_tokens;
}

// Up to the place the reason is the cache's, from there on the prompt's.
Places FindPlaces(const RememberedPrompts& prompts, std::map<MissReason, MissGroup>& others) {
  Places places;
  for (const Prompt& prompt : prompts) {
    const PromptTrie::Place place = places.trie.Insert(prompt->tokens);
    if (!Misses(*prompt)) continue;
    if (!SaysWhere(*prompt, place)) {
      Count(*prompt, prompt->computed_tokens(), others);
      continue;
    }
    const TokenId taken = prompt->tokens[static_cast<size_t>(place.common_tokens)];
    places.partings[place.node].push_back({prompt, place, AnotherWay(places.trie, place, taken)});
    if (WasCachedOnce(prompt->miss_reason)) Count(*prompt, place.common_tokens - prompt->cached_tokens, others);
  }
  return places;
}

// The highest place of which `node` is a part.
NodeId OnePlace(const Places& places, NodeId node) {
  NodeId top = node;
  for (NodeId above = places.trie.parent(node); above != PromptTrie::kRoot; above = places.trie.parent(above)) {
    if (places.trie.end(top) - places.trie.end(above) > kOnePlaceTokens) break;
    if (places.partings.contains(above)) top = above;
  }
  return top;
}

void AddWays(const PromptTrie& trie, NodeId place, MissGroup& group) {
  for (const NodeId child : trie.children(place)) {
    const auto after = From(trie.example(child), trie.end(place));
    const auto shown = after.first(std::min(after.size(), kShownAfter));
    group.ways.push_back({.tokens = {shown.begin(), shown.end()}, .prompts = trie.prompts(child)});
  }
  std::ranges::sort(group.ways, [](const WayOn& a, const WayOn& b) {
    return a.prompts != b.prompts ? a.prompts > b.prompts : TokensLess(a.tokens, b.tokens);
  });
  if (group.ways.size() > kShownWays) group.ways.resize(kShownWays);
}

void AddBefore(const PromptTrie& trie, NodeId place, MissGroup& group) {
  const auto common = trie.example(place).first(static_cast<size_t>(trie.end(place)));
  const auto shown = common.last(std::min(common.size(), kShownBefore));
  group.before.assign(shown.begin(), shown.end());
}

void Add(const Parting& parting, MissGroup& group) {
  ++group.requests;
  group.computed_tokens += parting.prompt->prompt_tokens - parting.place.common_tokens;
  group.earlier_requests = std::max(group.earlier_requests, parting.place.earlier_prompts);
  group.saved_by_moving_tokens += TokensSameAgain(From(parting.prompt->tokens, parting.place.common_tokens),
                                                  From(parting.other, parting.place.common_tokens));
}

// Places that are one, and the one of them that most prompts left: where the part begins that changes.
struct OnePlaceParts {
  std::vector<NodeId> nodes;
  NodeId busiest = PromptTrie::kRoot;
};

std::map<NodeId, OnePlaceParts> JoinPlaces(const Places& places) {
  std::map<NodeId, OnePlaceParts> joined;
  for (const auto& [node, partings] : places.partings) {
    OnePlaceParts& parts = joined[OnePlace(places, node)];
    const auto busiest = places.partings.find(parts.busiest);
    if (busiest == places.partings.end() || partings.size() > busiest->second.size()) parts.busiest = node;
    parts.nodes.push_back(node);
  }
  return joined;
}

MissGroup ToGroup(const Places& places, const OnePlaceParts& parts) {
  MissGroup group;
  group.reason = MissReason::kDiverged;
  for (const NodeId node : parts.nodes) {
    for (const Parting& parting : places.partings.at(node)) Add(parting, group);
  }
  group.token = places.trie.end(parts.busiest);
  AddBefore(places.trie, parts.busiest, group);
  AddWays(places.trie, parts.busiest, group);
  return group;
}

std::vector<MissGroup> GroupByPlace(const Places& places) {
  std::vector<MissGroup> groups;
  for (const auto& [top, parts] : JoinPlaces(places)) groups.push_back(ToGroup(places, parts));
  return groups;
}

}  // namespace

int64_t TokensSameAgain(std::span<const TokenId> a, std::span<const TokenId> b) {
  const auto limit = [](std::span<const TokenId> tokens) {
    return static_cast<int>(std::min<size_t>(tokens.size(), kLookAhead));
  };
  // By how much is skipped of both together, so that the earliest such place is found first.
  for (int skipped = 1; skipped <= limit(a) + limit(b); ++skipped) {
    for (int i = std::max(0, skipped - limit(b)); i <= std::min(skipped, limit(a)); ++i) {
      const size_t same = CommonTokens(a.subspan(static_cast<size_t>(i)), b.subspan(static_cast<size_t>(skipped - i)));
      if (same >= kSameAgain) return static_cast<int64_t>(same);
    }
  }
  return 0;
}

std::vector<MissGroup> ExplainMisses(const RememberedPrompts& prompts, int max_groups) {
  std::map<MissReason, MissGroup> others;
  const Places places = FindPlaces(prompts, others);
  std::vector<MissGroup> groups = GroupByPlace(places);
  for (auto& [reason, group] : others) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater<>(), &MissGroup::computed_tokens);
  if (groups.size() > static_cast<size_t>(max_groups)) groups.resize(static_cast<size_t>(max_groups));
  return groups;
}

}  // namespace headstart
