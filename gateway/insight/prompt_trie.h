// PromptTrie: prompts in the order in which they came, laid over each other: where each of them left the way that
// earlier ones had gone.
//
// Thread-safety: none.
// Ownership: borrows the tokens of every prompt, which outlive it.
//
// A node is a run of tokens that every prompt through it shares; its end is where ways part. A node keeps its end for
// ever: when it is split, the new node takes the upper half. So (node, end) names a place for good.

#ifndef HEADSTART_GATEWAY_INSIGHT_PROMPT_TRIE_H_
#define HEADSTART_GATEWAY_INSIGHT_PROMPT_TRIE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "prefix_store/types.h"

namespace headstart {

class PromptTrie {
 public:
  enum class NodeId : uint32_t {};
  static constexpr NodeId kRoot{0};

  PromptTrie() : nodes_(1) {}

  // How a prompt relates to those before it.
  struct Place {
    NodeId node = kRoot;          // at whose end it left the way of the others, or ended
    int64_t common_tokens = 0;    // with any one prompt before it, at the most
    int64_t earlier_prompts = 0;  // that share these tokens and have more; 0 where none has
    bool differs() const { return earlier_prompts > 0; }
  };
  Place Insert(std::span<const TokenId> prompt);

  NodeId parent(NodeId node) const { return at(node).parent; }
  int64_t end(NodeId node) const { return at(node).end; }          // tokens from the root to its end
  int64_t prompts(NodeId node) const { return at(node).prompts; }  // that go through it or end in it
  std::vector<NodeId> children(NodeId node) const;

  // The tokens of a node alone.
  std::span<const TokenId> tokens(NodeId node) const { return at(node).tokens; }

  // A prompt that goes through the node: its tokens from position 0 to the node's end, at least.
  std::span<const TokenId> example(NodeId node) const { return at(node).example; }

  size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    NodeId parent = kRoot;
    std::span<const TokenId> tokens;
    std::span<const TokenId> example;
    int64_t end = 0;
    int64_t prompts = 0;
    int64_t ending = 0;  // of prompts: those that have no more tokens
    absl::flat_hash_map<TokenId, NodeId> children = {};
  };

  Node& at(NodeId node) { return nodes_[ToIndex(node)]; }
  const Node& at(NodeId node) const { return nodes_[ToIndex(node)]; }
  NodeId Add(NodeId parent, std::span<const TokenId> tokens, std::span<const TokenId> example);
  NodeId SplitAbove(NodeId node, size_t tokens);

  std::vector<Node> nodes_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_INSIGHT_PROMPT_TRIE_H_
