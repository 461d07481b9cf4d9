#include "prefix_store/prefix_tree.h"

#include <functional>
#include <iterator>
#include <utility>

namespace headstart {

bool PrefixTree::NodeEqual::operator()(const PrefixNode* node, const ChildKey& key) const {
  return node->parent == key.parent && node->scope.id() == key.scope && StartsWith(node->tokens, key.tokens);
}

bool PrefixTree::NodeOrder::Less(const ChildKey& a, const ChildKey& b) {
  if (a.parent != b.parent) return std::less<>()(a.parent, b.parent);
  if (a.scope != b.scope) return a.scope < b.scope;
  return TokensLess(a.tokens, b.tokens);
}

PrefixTree::PrefixTree(int block_tokens, const BlockHasher& hasher, BlockPool& pool)
    : block_tokens_(block_tokens), hasher_(hasher), pool_(pool), root_(std::make_unique<PrefixNode>()) {}

// --- reading

// The blocks of a prompt on their way down the tree, one after the other, with the hashes of the prefixes that they
// end. Where every block is a node of its own, each would wait for memory three times: for the index, the node, and the
// node's tokens. So, after a node of one block, some blocks' memory is asked for at once, by hash alone.
class PrefixTree::LookAhead {
 public:
  LookAhead(const PrefixTree& tree, ScopeId scope, TokenSpan tokens) : tree_(tree), scope_(scope), tokens_(tokens) {}

  TokenSpan tokens() const { return tokens_; }
  bool HasBlockAfter(const TreePosition& at) const { return at.blocks < std::ssize(tokens_) / tree_.block_tokens_; }
  TokenSpan BlockAfter(const TreePosition& at) const { return Block(at.blocks); }

  // The hash of the prefix that the block after `at` ends. REQUIRES: HasBlockAfter(at).
  uint64_t HashAfter(const TreePosition& at) {
    if (at.blocks < first_ || at.blocks >= end_) Ask(at);
    return hashes_[at.blocks - first_];
  }

 private:
  static constexpr int64_t kWindow = 8;

  TokenSpan Block(int64_t index) const { return tokens_.subspan(index * tree_.block_tokens_, tree_.block_tokens_); }

  void Ask(const TreePosition& at) {
    const bool follows = end_ > 0 && at.blocks == end_;
    uint64_t hash = follows ? hashes_[end_ - first_ - 1] : tree_.HashAt(at);
    first_ = at.blocks;
    end_ = std::min<int64_t>(first_ + (follows ? kWindow : 1), std::ssize(tokens_) / tree_.block_tokens_);
    for (int64_t block = first_; block < end_; ++block) {
      hash = tree_.hasher_.Chain(hash, Block(block));
      hashes_[block - first_] = hash;
      if (follows) FetchIndex(hash);
    }
    for (int64_t block = first_; follows && block < end_; ++block) FetchNode(hashes_[block - first_]);
  }

  void FetchIndex(uint64_t hash) const {
    tree_.index_.prefetch(Guess{tree_.IndexHash(kPublicScope, hash)});
    if (scope_ != kPublicScope) tree_.index_.prefetch(Guess{tree_.IndexHash(scope_, hash)});
  }

  void FetchNode(uint64_t hash) const {
    for (const ScopeId scope : {kPublicScope, scope_}) {
      const auto node = tree_.index_.find(Guess{tree_.IndexHash(scope, hash)});
      if (node != tree_.index_.end()) return __builtin_prefetch((*node)->tokens.data());
      if (scope == scope_) return;
    }
  }

  const PrefixTree& tree_;
  const ScopeId scope_;
  const TokenSpan tokens_;
  int64_t first_ = 0;  // the window, in blocks
  int64_t end_ = 0;
  std::array<uint64_t, kWindow> hashes_;
};

TreeMatch PrefixTree::Match(ScopeId scope, TokenSpan tokens) const {
  TreeMatch best{.at = Root()};
  TreePosition at = Root();
  LookAhead prompt(*this, scope, tokens);
  // Follows public nodes as far as they go. A tenant's own branch may leave them at any node's end, and be the deeper.
  while (!InsideRun(at) && prompt.HasBlockAfter(at)) {
    const uint64_t hash = prompt.HashAfter(at);
    if (scope != kPublicScope) {
      PrefixNode* own = Child(at.node, scope, prompt.BlockAfter(at), hash);
      if (own != nullptr) best = Deeper(best, Finish(Descend(at, own, scope, prompt), scope, tokens));
    }
    PrefixNode* child = Child(at.node, kPublicScope, prompt.BlockAfter(at), hash);
    if (child == nullptr) break;
    at = Enter(at, child, tokens);
  }
  return Deeper(Finish(at, scope, tokens), best);
}

std::vector<BlockId> PrefixTree::Path(const TreePosition& at) const {
  std::vector<BlockId> path(at.blocks);
  int64_t used = at.used;
  for (const PrefixNode* node = at.node; node->parent != nullptr; node = node->parent) {
    std::copy_n(node->blocks.begin(), used, path.begin() + node->first_depth);
    used = node->parent->run();
  }
  return path;
}

TreePosition PrefixTree::After(BlockId block) const {
  const Block& record = pool_[block];
  return {record.node, record.depth - record.node->first_depth + 1, record.depth + 1};
}

std::optional<BlockId> PrefixTree::FindNext(const TreePosition& at, ScopeId scope, TokenSpan block) const {
  const auto shared = FindNextIn(at, kPublicScope, block);
  return shared || scope == kPublicScope ? shared : FindNextIn(at, scope, block);
}

std::optional<BlockId> PrefixTree::FindNextIn(const TreePosition& at, ScopeId scope, TokenSpan block) const {
  if (InsideRun(at)) {
    if (at.node->scope.id() != scope || !StartsWith(TokensAfter(at), block)) return std::nullopt;
    return at.node->blocks[at.used];
  }
  if (at.node->children == 0) return std::nullopt;
  const PrefixNode* child = Child(at.node, scope, block, hasher_.Chain(HashAt(at), block));
  if (child == nullptr) return std::nullopt;
  return child->blocks.front();
}

bool PrefixTree::Covers(const TreePosition& at, ScopeId scope, TokenSpan tail) const {
  return CoversIn(at, kPublicScope, tail) || (scope != kPublicScope && CoversIn(at, scope, tail));
}

bool PrefixTree::CoversIn(const TreePosition& at, ScopeId scope, TokenSpan tail) const {
  if (InsideRun(at)) return at.node->scope.id() == scope && StartsWith(TokensAfter(at), tail);
  return NearestChild(at.node, scope, tail).common == std::ssize(tail);
}

uint64_t PrefixTree::HashAt(const TreePosition& at) const {
  return at.blocks == 0 ? 0 : pool_[at.node->blocks[at.used - 1]].prefix_hash;
}

bool PrefixTree::IsLeaf(BlockId block) const {
  const PrefixNode& node = *pool_[block].node;
  return node.children == 0 && node.blocks.back() == block;
}

bool PrefixTree::IsLeafIn(Reach reach, BlockId block) const {
  const Block& record = pool_[block];
  const PrefixNode& node = *record.node;
  const size_t next = record.depth - node.first_depth + 1;
  if (next < node.blocks.size()) return !pool_[node.blocks[next]].Reaches(reach);
  return node.children_in[static_cast<size_t>(reach)] == 0;
}

TreePosition PrefixTree::EndBefore(absl::FunctionRef<bool(BlockId)> outside, const TreePosition& at) const {
  int64_t used = at.used;
  PrefixNode* node = at.node;
  while (node->parent != nullptr && (used == 0 || outside(node->blocks.front()))) {
    node = node->parent;
    used = node->run();
  }
  const auto first = node->blocks.begin();
  const auto end = std::partition_point(first, first + used, [&](BlockId block) { return !outside(block); });
  return {node, end - first, node->first_depth + (end - first)};
}

// A Reach holds a path up to some block and nothing after it.
int64_t PrefixTree::BlocksIn(Reach reach, const TreePosition& at) const {
  return EndBefore([&](BlockId block) { return !pool_[block].Reaches(reach); }, at).blocks;
}

std::vector<BlockId> PrefixTree::Subtree(BlockId block) const {
  const Block& record = pool_[block];
  std::vector<BlockId> blocks;
  AppendSubtree(*record.node, record.depth - record.node->first_depth, blocks);
  return blocks;
}

std::vector<BlockId> PrefixTree::Tops(absl::FunctionRef<bool(ScopeId)> theirs) const {
  std::vector<BlockId> tops;
  for (const auto& node : order_) {
    if (node->parent->scope.id() != kPublicScope || node->scope.id() == kPublicScope) continue;
    if (theirs(node->scope.id())) tops.push_back(node->blocks.front());
  }
  return tops;
}

void PrefixTree::ForEach(absl::FunctionRef<void(BlockId)> visit) const {
  std::vector<BlockId> blocks;
  AppendSubtree(*root_, 0, blocks);
  for (const BlockId block : blocks) visit(block);
}

// With a list of its own in place of recursion: a tree may be as deep as a context is long.
void PrefixTree::AppendSubtree(const PrefixNode& node, int64_t from, std::vector<BlockId>& blocks) const {
  std::vector<const PrefixNode*> open = {&node};
  while (!open.empty()) {
    const PrefixNode* next = open.back();
    open.pop_back();
    blocks.insert(blocks.end(), next->blocks.begin() + (next == &node ? from : 0), next->blocks.end());
    if (next->children == 0) continue;
    for (auto child = order_.lower_bound(ChildKey{next, kPublicScope, {}, 0});
         child != order_.end() && (*child)->parent == next; ++child) {
      open.push_back(child->get());
    }
  }
}

std::optional<BlockId> PrefixTree::Before(BlockId block) const {
  const Block& record = pool_[block];
  const PrefixNode& node = *record.node;
  if (record.depth > node.first_depth) return node.blocks[record.depth - node.first_depth - 1];
  if (node.parent->blocks.empty()) return std::nullopt;
  return node.parent->blocks.back();
}

TokenSpan PrefixTree::TokensOf(BlockId block) const {
  const Block& record = pool_[block];
  const TokenSpan rest =
      TokenSpan(record.node->tokens).subspan((record.depth - record.node->first_depth) * block_tokens_);
  return rest.first(std::min<size_t>(rest.size(), block_tokens_));
}

TokenSpan PrefixTree::TokensAfter(const TreePosition& at) const {
  return TokenSpan(at.node->tokens).subspan(at.used * block_tokens_);
}

uint64_t PrefixTree::IndexHash(ScopeId scope, uint64_t prefix_hash) const {
  return scope == kPublicScope ? prefix_hash : hasher_.Combine(prefix_hash, ToIndex(scope));
}

PrefixNode* PrefixTree::Child(const PrefixNode* parent, ScopeId scope, TokenSpan block, uint64_t prefix_hash) const {
  const auto found = index_.find(ChildKey{parent, scope, block, IndexHash(scope, prefix_hash)});
  return found != index_.end() ? *found : nullptr;
}

// Among strings in order, the one with the longest common start with a given string is a neighbour of its place.
PrefixTree::Nearest PrefixTree::NearestChild(const PrefixNode* parent, ScopeId scope, TokenSpan tokens) const {
  Nearest nearest;
  if (parent->children == 0) return nearest;
  const TokenSpan block = tokens.first(std::min<size_t>(tokens.size(), block_tokens_));
  const auto consider = [&](const PrefixNode& node) {
    if (node.parent != parent || node.scope.id() != scope) return;
    const int64_t common = CommonTokens(node.tokens, block);
    if (nearest.node == nullptr || common > nearest.common) nearest = {&node, common};
  };
  const auto place = order_.lower_bound(ChildKey{parent, scope, block, 0});
  if (place != order_.end()) consider(**place);
  if (place != order_.begin()) consider(**std::prev(place));
  return nearest;
}

// `child` begins with the block after `at`. What is to be known of its end is fetched while the rest is compared.
TreePosition PrefixTree::Enter(const TreePosition& at, PrefixNode* child, TokenSpan tokens) const {
  if (child->run() == 1) return {child, 1, at.blocks + 1};
  __builtin_prefetch(&pool_[child->blocks.back()]);
  const TokenSpan rest = TokenSpan(child->tokens).subspan(block_tokens_);
  const int64_t common = 1 + CommonTokens(rest, tokens.subspan((at.blocks + 1) * block_tokens_)) / block_tokens_;
  return {child, common, at.blocks + common};
}

// Follows nodes of one scope as far as they go, from `child` on.
TreePosition PrefixTree::Descend(TreePosition at, PrefixNode* child, ScopeId scope, LookAhead& prompt) const {
  while (child != nullptr) {
    at = Enter(at, child, prompt.tokens());
    if (InsideRun(at) || !prompt.HasBlockAfter(at)) break;
    child = Child(at.node, scope, prompt.BlockAfter(at), prompt.HashAfter(at));
  }
  return at;
}

// Adds what the block after `at` shares with the prompt.
TreeMatch PrefixTree::Finish(const TreePosition& at, ScopeId scope, TokenSpan tokens) const {
  TreeMatch match{.at = at};
  const TokenSpan rest = tokens.subspan(at.blocks * block_tokens_);
  const auto consider = [&](BlockId block, int64_t common, bool goes_on) {
    if (common < match.partial_tokens) return;
    match.goes_on = goes_on || (match.goes_on && common == match.partial_tokens);
    if (common == match.partial_tokens) return;
    match.partial = block;
    match.partial_tokens = common;
  };
  if (InsideRun(at)) {
    consider(at.node->blocks[at.used], CommonTokens(TokensAfter(at), rest), true);
    return match;
  }
  const auto consider_children = [&](ScopeId where) {
    const Nearest nearest = NearestChild(at.node, where, rest);
    if (nearest.node == nullptr) return;
    consider(nearest.node->blocks.front(), nearest.common, nearest.common < std::ssize(nearest.node->tokens));
  };
  consider_children(kPublicScope);
  if (scope != kPublicScope) consider_children(scope);
  return match;
}

// Of two that are equally long, the one that shares more whole blocks and copies less; then `a`.
TreeMatch PrefixTree::Deeper(const TreeMatch& a, const TreeMatch& b) const {
  const auto rank = [&](const TreeMatch& match) {
    return std::pair(match.at.blocks * block_tokens_ + match.partial_tokens, match.at.blocks);
  };
  return rank(a) >= rank(b) ? a : b;
}

// --- writing

std::optional<BlockId> PrefixTree::Insert(const TreePosition& at, const ScopeTable::Use& scope, TokenSpan tokens,
                                          BlockId block) {
  Block& record = pool_[block];
  record.depth = static_cast<uint32_t>(at.blocks);
  record.prefix_hash = hasher_.Chain(HashAt(at), tokens);
  tokens_ += std::ssize(tokens);
  if (CanGrow(at, scope.id()) && std::ssize(tokens) == block_tokens_) {
    record.node = at.node;
    at.node->tokens.insert(at.node->tokens.end(), tokens.begin(), tokens.end());
    at.node->blocks.push_back(block);
    return std::nullopt;
  }
  auto node = std::make_unique<PrefixNode>();
  record.node = node.get();
  node->scope = scope.Copy();
  node->tokens.assign(tokens.begin(), tokens.end());
  node->blocks.push_back(block);
  node->first_depth = record.depth;
  PrefixNode* parent = SplitAt(at).node;
  CountChild(*parent, record.reach(), +1);
  return RemoveTailBefore(AddChild(parent, std::move(node)));
}

void PrefixTree::Remove(BlockId block) {
  PrefixNode* node = pool_[block].node;
  const size_t kept = (node->blocks.size() - 1) * block_tokens_;
  tokens_ -= static_cast<int64_t>(node->tokens.size() - kept);
  if (kept == 0) {
    CountChild(*node->parent, pool_[block].reach(), -1);
    TakeChild(node);
  } else {
    node->tokens.resize(kept);
    node->blocks.pop_back();
  }
  pool_[block].node = nullptr;
}

void PrefixTree::ReachChanged(BlockId block, ReachSet before) {
  const Block& record = pool_[block];
  PrefixNode& node = *record.node;
  if (record.depth != node.first_depth) return;
  CountChild(*node.parent, before, -1);
  CountChild(*node.parent, record.reach(), +1);
}

void PrefixTree::CountChild(PrefixNode& parent, ReachSet reach, int step) {
  parent.children += step;
  for (int i = 0; i < kReaches; ++i) {
    if ((reach & Only(static_cast<Reach>(i))) != 0) parent.children_in[i] += step;
  }
}

void PrefixTree::Trim(BlockId block) {
  PrefixNode& node = *pool_[block].node;
  if (node.tokens.capacity() <= node.tokens.size() + block_tokens_) return;
  node.tokens.shrink_to_fit();
  node.blocks.shrink_to_fit();
}

void PrefixTree::Clear(absl::FunctionRef<void(BlockId)> removed) {
  index_.clear();
  const Order nodes = std::exchange(order_, Order());
  root_->children = 0;
  root_->children_in = {};
  tokens_ = 0;
  for (const auto& node : nodes) {
    for (const BlockId block : node->blocks) {
      pool_[block].node = nullptr;
      removed(block);
    }
  }
}

bool PrefixTree::CanGrow(const TreePosition& at, ScopeId scope) const {
  return at.node != root_.get() && !InsideRun(at) && at.node->children == 0 && at.node->scope.id() == scope;
}

PrefixTree::Order::iterator PrefixTree::AddChild(PrefixNode* parent, std::unique_ptr<PrefixNode> node) {
  node->parent = parent;
  if (!IsTail(*node)) {
    node->index_hash = IndexHash(node->scope.id(), pool_[node->blocks.front()].prefix_hash);
    index_.insert(node.get());
  }
  return order_.insert(std::move(node)).first;
}

std::unique_ptr<PrefixNode> PrefixTree::TakeChild(PrefixNode* node) {
  if (!IsTail(*node)) index_.erase(node);
  auto taken = order_.extract(order_.find(KeyOf(*node)));
  return std::move(taken.value());
}

// By invariant 1 a tail that `added` starts with can only be its neighbour: whatever lay between starts with it as
// well.
std::optional<BlockId> PrefixTree::RemoveTailBefore(Order::iterator added) {
  if (added == order_.begin()) return std::nullopt;
  const PrefixNode& before = **std::prev(added);
  const PrefixNode& node = **added;
  const bool redundant = before.parent == node.parent && before.scope.id() == node.scope.id() && IsTail(before) &&
                         StartsWith(node.tokens, before.tokens);
  if (!redundant) return std::nullopt;
  const BlockId block = before.blocks.front();
  Remove(block);
  return block;
}

// Makes `at` the end of a node. The lower part keeps its identity, and with it its children.
TreePosition PrefixTree::SplitAt(const TreePosition& at) {
  if (!InsideRun(at)) return at;
  PrefixNode* parent = at.node->parent;
  std::unique_ptr<PrefixNode> lower = TakeChild(at.node);
  std::unique_ptr<PrefixNode> upper = DetachUpper(lower.get(), at.used);
  PrefixNode* middle = upper.get();
  CountChild(*middle, pool_[lower->blocks.front()].reach(), +1);
  AddChild(parent, std::move(upper));
  AddChild(middle, std::move(lower));
  return {middle, at.used, at.blocks};
}

std::unique_ptr<PrefixNode> PrefixTree::DetachUpper(PrefixNode* node, int64_t blocks) {
  auto upper = std::make_unique<PrefixNode>();
  const auto cut = node->tokens.begin() + blocks * block_tokens_;
  upper->scope = node->scope.Copy();
  upper->first_depth = node->first_depth;
  upper->tokens.assign(node->tokens.begin(), cut);
  upper->blocks.assign(node->blocks.begin(), node->blocks.begin() + blocks);
  for (const BlockId block : upper->blocks) pool_[block].node = upper.get();
  node->tokens = std::vector<TokenId>(cut, node->tokens.end());
  node->blocks.erase(node->blocks.begin(), node->blocks.begin() + blocks);
  node->blocks.shrink_to_fit();  // what is left may be one block of a run of thousands
  node->first_depth += static_cast<uint32_t>(blocks);
  return upper;
}

}  // namespace headstart
