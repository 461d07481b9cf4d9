#include "gateway/insight/hottest_prefixes.h"

#include <algorithm>
#include <utility>

#include "gateway/insight/prompt_trie.h"

namespace headstart {
namespace {

constexpr size_t kShown = 48;  // tokens

using NodeId = PromptTrie::NodeId;

int64_t Worth(const PromptTrie& trie, NodeId node) { return (trie.prompts(node) - 1) * trie.end(node); }

bool IsAbove(const PromptTrie& trie, NodeId upper, NodeId lower) {
  while (trie.end(lower) > trie.end(upper)) lower = trie.parent(lower);
  return lower == upper;
}

std::vector<NodeId> SharedNodes(const PromptTrie& trie) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 1; i < trie.size(); ++i) {
    if (trie.prompts(NodeId{i}) > 1) nodes.push_back(NodeId{i});
  }
  std::ranges::sort(nodes, [&](NodeId a, NodeId b) {
    return std::pair(-Worth(trie, a), ToIndex(a)) < std::pair(-Worth(trie, b), ToIndex(b));
  });
  return nodes;
}

}  // namespace

std::vector<HotPrefix> HottestPrefixes(const RememberedPrompts& prompts, int count) {
  PromptTrie trie;
  for (const auto& prompt : prompts) trie.Insert(prompt->tokens);
  std::vector<NodeId> chosen;
  for (const NodeId node : SharedNodes(trie)) {
    if (static_cast<int>(chosen.size()) == count) break;
    const bool told = std::ranges::any_of(
        chosen, [&](NodeId other) { return IsAbove(trie, other, node) || IsAbove(trie, node, other); });
    if (!told) chosen.push_back(node);
  }
  std::vector<HotPrefix> result;
  for (const NodeId node : chosen) {
    const auto shown = trie.example(node).first(std::min(kShown, static_cast<size_t>(trie.end(node))));
    result.push_back(
        {.requests = trie.prompts(node), .tokens = trie.end(node), .beginning = {shown.begin(), shown.end()}});
  }
  return result;
}

}  // namespace headstart
