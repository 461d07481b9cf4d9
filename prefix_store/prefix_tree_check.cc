#include <iterator>

#include "fmt/format.h"
#include "prefix_store/prefix_tree.h"

namespace headstart {
namespace {

absl::Status Broken(const PrefixNode& node, std::string_view what) {
  return absl::InternalError(fmt::format("prefix tree: a node of {} blocks at depth {}, scope {}: {}", node.run(),
                                         node.first_depth, ToIndex(node.scope.id()), what));
}

}  // namespace

absl::Status PrefixTree::Check() const {
  int64_t tokens = 0;
  int64_t whole = 0;
  absl::flat_hash_map<const PrefixNode*, uint32_t> children;
  absl::flat_hash_map<const PrefixNode*, std::array<uint32_t, kReaches>> children_in;
  for (const auto& node : order_) {
    if (const absl::Status status = CheckNode(*node); !status.ok()) return status;
    tokens += std::ssize(node->tokens);
    whole += IsTail(*node) ? 0 : 1;
    ++children[node->parent];
    for (int i = 0; i < kReaches; ++i) {
      children_in[node->parent][i] += pool_[node->blocks.front()].Reaches(static_cast<Reach>(i)) ? 1 : 0;
    }
  }
  for (const auto& node : order_) {
    const auto counted = children.find(node.get());
    if ((counted == children.end() ? 0 : counted->second) != node->children)
      return Broken(*node, "its child count is wrong");
    if (children_in[node.get()] != node->children_in) return Broken(*node, "its children's tiers are counted wrong");
  }
  if (root_->children != children[root_.get()]) return Broken(*root_, "the root's child count is wrong");
  if (tokens != tokens_) return absl::InternalError(fmt::format("prefix tree: {} tokens, counted {}", tokens, tokens_));
  if (whole != std::ssize(index_)) return absl::InternalError("prefix tree: the hash index holds other nodes");
  return CheckOrder();
}

absl::Status PrefixTree::CheckNode(const PrefixNode& node) const {
  if (node.blocks.empty()) return Broken(node, "it is empty");
  if (IsTail(node) && (node.children > 0 || node.tokens.empty()))
    return Broken(node, "a tail with children or no token");
  if (!IsTail(node) && std::ssize(node.tokens) != node.run() * block_tokens_)
    return Broken(node, "tokens and blocks differ");
  if (const absl::Status status = CheckPlace(node); !status.ok()) return status;
  return CheckRecords(node);
}

absl::Status PrefixTree::CheckPlace(const PrefixNode& node) const {
  const PrefixNode& parent = *node.parent;
  if (parent.scope.id() != kPublicScope && parent.scope.id() != node.scope.id()) {
    return Broken(node, "it hangs below another tenant's node");
  }
  if (node.first_depth != parent.first_depth + parent.blocks.size()) return Broken(node, "its depth is wrong");
  const auto placed = order_.find(KeyOf(node));
  if (placed == order_.end() || placed->get() != &node) return Broken(node, "the ordered index does not find it");
  if (IsTail(node)) return absl::OkStatus();
  const uint64_t hash = hasher_.Chain(HashAt({node.parent, parent.run(), node.first_depth}), node.first_block());
  const bool found = Child(&parent, node.scope.id(), node.first_block(), hash) == &node;
  return found ? absl::OkStatus() : Broken(node, "the hash index does not find it");
}

absl::Status PrefixTree::CheckRecords(const PrefixNode& node) const {
  uint64_t hash = HashAt({node.parent, node.parent->run(), node.first_depth});
  const BlockId* before = node.first_depth == 0 ? nullptr : &node.parent->blocks.back();
  bool ancestors_leased = node.first_depth == 0 || pool_[node.parent->blocks.back()].leases > 0;
  for (int64_t i = 0; i < node.run(); ++i) {
    const Block& record = pool_[node.blocks[i]];
    const TokenSpan rest = TokenSpan(node.tokens).subspan(i * block_tokens_);
    hash = hasher_.Chain(hash, rest.first(std::min<size_t>(rest.size(), block_tokens_)));
    if (record.node != &node || record.depth != node.first_depth + i)
      return Broken(node, "a block's record points elsewhere");
    if (record.prefix_hash != hash) return Broken(node, "a block's prefix hash is wrong");
    if (record.leases > 0 && !ancestors_leased) return Broken(node, "a leased block below one that is not");
    ancestors_leased = record.leases > 0;
    if (const absl::Status status = CheckReach(node, before, record); !status.ok()) return status;
    before = &node.blocks[i];
  }
  return absl::OkStatus();
}

// The bytes are somewhere, and no nearer than those of the block before.
absl::Status PrefixTree::CheckReach(const PrefixNode& node, const BlockId* before, const Block& record) const {
  if (record.reach() == 0) return Broken(node, "a block whose bytes are nowhere");
  if (before == nullptr) return absl::OkStatus();
  const Block& above = pool_[*before];
  for (const Reach reach : {Reach::kDevice, Reach::kMemory}) {
    if (record.Reaches(reach) && !above.Reaches(reach)) return Broken(node, "nearer than the block before it");
  }
  return absl::OkStatus();
}

absl::Status PrefixTree::CheckOrder() const {
  const PrefixNode* before = nullptr;
  for (const auto& node : order_) {
    const bool siblings = before != nullptr && before->parent == node->parent && before->scope.id() == node->scope.id();
    if (siblings && IsTail(*before) && StartsWith(node->tokens, before->tokens)) {
      return Broken(*before, "a tail that a sibling starts with");
    }
    if (before != nullptr && !NodeOrder::Less(KeyOf(*before), KeyOf(*node))) return Broken(*node, "it is out of order");
    before = node.get();
  }
  return absl::OkStatus();
}

}  // namespace headstart
