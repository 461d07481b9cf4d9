#include "gateway/insight/prompt_trie.h"

#include "prefix_store/token_compare.h"

namespace headstart {

PromptTrie::Place PromptTrie::Insert(std::span<const TokenId> prompt) {
  NodeId node = kRoot;
  std::span<const TokenId> rest = prompt;
  while (true) {
    ++at(node).prompts;
    const auto child = rest.empty() ? at(node).children.end() : at(node).children.find(rest.front());
    if (child == at(node).children.end()) break;
    NodeId next = child->second;
    const size_t common = CommonTokens(at(next).tokens, rest);
    if (common < at(next).tokens.size()) next = SplitAbove(next, common);
    node = next;
    rest = rest.subspan(common);
  }
  const Place place{.node = node,
                    .common_tokens = at(node).end,
                    .earlier_prompts = rest.empty() ? 0 : at(node).prompts - 1 - at(node).ending};
  const NodeId last = rest.empty() ? node : Add(node, rest, prompt);
  if (!rest.empty()) at(last).prompts = 1;
  ++at(last).ending;
  return place;
}

PromptTrie::NodeId PromptTrie::Add(NodeId parent, std::span<const TokenId> tokens, std::span<const TokenId> example) {
  const NodeId id{static_cast<uint32_t>(nodes_.size())};
  const int64_t end = at(parent).end + static_cast<int64_t>(tokens.size());
  at(parent).children[tokens.front()] = id;
  nodes_.push_back({.parent = parent, .tokens = tokens, .example = example, .end = end});
  return id;
}

// The first `tokens` tokens of `node` become a node of their own, its parent.
PromptTrie::NodeId PromptTrie::SplitAbove(NodeId node, size_t tokens) {
  const std::span<const TokenId> all = at(node).tokens;
  const NodeId upper = Add(at(node).parent, all.first(tokens), at(node).example);
  at(upper).prompts = at(node).prompts;
  at(upper).children[all[tokens]] = node;
  at(node).parent = upper;
  at(node).tokens = all.subspan(tokens);
  return upper;
}

std::vector<PromptTrie::NodeId> PromptTrie::children(NodeId node) const {
  std::vector<NodeId> result;
  result.reserve(at(node).children.size());
  for (const auto& [token, child] : at(node).children) result.push_back(child);
  return result;
}

}  // namespace headstart
