// PrefixTree: the radix tree over blocks. A node is a run of blocks of one scope with their tokens side by side, so
// that matching within a run is one long comparison; a path from the root is a prefix.
//
//   root ── [system prompt: 40 blocks] ─┬─ [chat A: 12 blocks] ── (tail: 5 tokens)
//           public                      └─ [chat B: 3 blocks]       of A's tenant
//
// A run holds complete blocks only. A sequence's last, incomplete block is a TAIL: a node of its own with fewer tokens
// than a block and never a child. Children are found in two indexes: a complete block by the hash of the prefix that it
// ends, and, in the order of their tokens, the child that shares the most tokens with a prompt. Neither takes longer
// with more siblings, beyond the logarithm. Runs are split at block boundaries, and only by insertion.
//
// Thread-safety: none; the scheduler thread's. Match and its relatives change nothing and allocate nothing.
// Ownership: the tree owns its nodes; blocks belong to the pool, whose records (node, depth, prefix_hash) it keeps.
// The pool, the scope table and the hasher outlive the tree.
//
// Invariants:
//   1. No two children of a node in one scope have equal first blocks, and no tail is a prefix of a sibling in its
//   scope.
//   2. Below a node of a tenant's scope there are only nodes of that scope.
//   3. Every node but the root holds at least one block.

#ifndef HEADSTART_PREFIX_STORE_PREFIX_TREE_H_
#define HEADSTART_PREFIX_STORE_PREFIX_TREE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "prefix_store/block_hash.h"
#include "prefix_store/block_pool.h"
#include "prefix_store/scope_table.h"
#include "prefix_store/token_compare.h"

namespace headstart {

struct PrefixNode {
  PrefixNode* parent = nullptr;  // null in the root alone
  ScopeTable::Use scope;
  uint64_t index_hash = 0;  // of the prefix that its first block ends, and its scope; of complete blocks only
  std::vector<TokenId> tokens;
  absl::InlinedVector<BlockId, 4> blocks;           // four ids take the room that a heap pointer and its sizes would
  uint32_t first_depth = 0;                         // blocks before the first one
  uint32_t children = 0;                            // of every scope
  std::array<uint32_t, kReaches> children_in = {};  // of those, the ones whose first block a Reach contains

  int64_t run() const { return static_cast<int64_t>(blocks.size()); }
  TokenSpan first_block() const { return TokenSpan(tokens).first(tokens.size() / blocks.size()); }
};

// The end of a path: `used` blocks of `node` are on it, `blocks` in all.
struct TreePosition {
  PrefixNode* node;
  int64_t used;
  int64_t blocks;
};

// The longest cached prefix of a prompt.
struct TreeMatch {
  TreePosition at;  // after its last whole block
  std::optional<BlockId> partial =
      std::nullopt;            // the block after `at` that shares the most further tokens, when any does
  int64_t partial_tokens = 0;  // how many: they are at its start
  bool goes_on = false;        // something visible continues after the match with other tokens
  bool expired = false;        // it was longer, and the store cut off what has expired
};

class PrefixTree {
 public:
  PrefixTree(int block_tokens, const BlockHasher& hasher, BlockPool& pool);

  // --- reading

  // `scope` sees public nodes and its own.
  TreeMatch Match(ScopeId scope, TokenSpan tokens) const;

  // The blocks of the path that ends at `at`, from the root.
  std::vector<BlockId> Path(const TreePosition& at) const;

  TreePosition Root() const { return {root_.get(), 0, 0}; }
  TreePosition After(BlockId block) const;

  // The cached block right after `at` that holds exactly `block`.
  std::optional<BlockId> FindNext(const TreePosition& at, ScopeId scope, TokenSpan block) const;

  // Whether a block right after `at` starts with all of `tail`.
  bool Covers(const TreePosition& at, ScopeId scope, TokenSpan tail) const;

  // The same among the blocks of one scope alone. A tenant's block may have a public twin that came later.
  std::optional<BlockId> FindNextIn(const TreePosition& at, ScopeId scope, TokenSpan block) const;
  bool CoversIn(const TreePosition& at, ScopeId scope, TokenSpan tail) const;

  // Hash of the tokens up to `at`.
  uint64_t HashAt(const TreePosition& at) const;

  // Nothing in the tree depends on `block`. REQUIRES: it is in the tree.
  bool IsLeaf(BlockId block) const;

  // The same of the part of the tree that `reach` contains.
  bool IsLeafIn(Reach reach, BlockId block) const;

  // The end of the blocks up to `at` before the first one that is `outside`. REQUIRES: so are all after that one.
  TreePosition EndBefore(absl::FunctionRef<bool(BlockId)> outside, const TreePosition& at) const;

  // Of the blocks up to `at`, the number at the start that `reach` (kDevice or kMemory) contains.
  int64_t BlocksIn(Reach reach, const TreePosition& at) const;

  // `block` and all blocks below it, parents first.
  std::vector<BlockId> Subtree(BlockId block) const;

  // The block before it, when it is not the first of its sequence.
  std::optional<BlockId> Before(BlockId block) const;

  // The tokens that `block` holds.
  TokenSpan TokensOf(BlockId block) const;

  // The first blocks of the nodes of `theirs`, tenants' scopes all, that hang on public ones. All else of those scopes
  // lies below them.
  std::vector<BlockId> Tops(absl::FunctionRef<bool(ScopeId)> theirs) const;

  // Every block, parents first.
  void ForEach(absl::FunctionRef<void(BlockId)> visit) const;

  int64_t nodes() const { return static_cast<int64_t>(order_.size()); }
  int64_t tokens() const { return tokens_; }
  int block_tokens() const { return block_tokens_; }

  // INTERNAL naming the first broken invariant.
  absl::Status Check() const;

  // --- writing

  // Hangs `block`, which holds `tokens` (a whole block, or fewer for a tail), after `at`. Returns a tail that it made
  // redundant, which is no longer in the tree.
  // REQUIRES: FindNextIn, or CoversIn for a tail, finds nothing of its scope there; `scope` is that of at.node, or
  // at.node is public.
  std::optional<BlockId> Insert(const TreePosition& at, const ScopeTable::Use& scope, TokenSpan tokens, BlockId block);

  // REQUIRES: IsLeaf(block).
  void Remove(BlockId block);

  // To be called when a block's Reach has changed from `before`, while it is in the tree.
  void ReachChanged(BlockId block, ReachSet before);

  // Gives back memory that the run of `block` holds for growth. REQUIRES: it is in the tree.
  void Trim(BlockId block);

  // Removes everything, calling `removed` for each block once it is out.
  void Clear(absl::FunctionRef<void(BlockId)> removed);

 private:
  // What a node is found by, without a node.
  struct ChildKey {
    const PrefixNode* parent;
    ScopeId scope;
    TokenSpan tokens;  // one block or less
    uint64_t hash;     // unset for the ordered index
  };

  // What a node may well be found by: nothing is known of it but its hash.
  struct Guess {
    uint64_t hash;
  };

  struct NodeHash {
    using is_transparent = void;
    size_t operator()(const PrefixNode* node) const { return node->index_hash; }
    size_t operator()(const ChildKey& key) const { return key.hash; }
    size_t operator()(const Guess& guess) const { return guess.hash; }
  };
  struct NodeEqual {
    using is_transparent = void;
    bool operator()(const PrefixNode* a, const PrefixNode* b) const { return a == b; }
    bool operator()(const PrefixNode* node, const Guess& guess) const { return node->index_hash == guess.hash; }
    bool operator()(const PrefixNode* node, const ChildKey& key) const;
    bool operator()(const ChildKey& key, const PrefixNode* node) const { return (*this)(node, key); }
  };
  struct NodeOrder {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Less(KeyOf(a), KeyOf(b));
    }
    static bool Less(const ChildKey& a, const ChildKey& b);
  };
  using Order = absl::btree_set<std::unique_ptr<PrefixNode>, NodeOrder>;

  class LookAhead;  // a prompt on its way down

  // The child that shares most tokens with a prompt.
  struct Nearest {
    const PrefixNode* node = nullptr;
    int64_t common = 0;
  };

  static ChildKey KeyOf(const std::unique_ptr<PrefixNode>& node) { return KeyOf(*node); }
  static ChildKey KeyOf(const PrefixNode& node) { return {node.parent, node.scope.id(), node.first_block(), 0}; }
  static const ChildKey& KeyOf(const ChildKey& key) { return key; }

  TokenSpan TokensAfter(const TreePosition& at) const;
  bool IsTail(const PrefixNode& node) const { return std::ssize(node.tokens) < block_tokens_; }
  bool InsideRun(const TreePosition& at) const { return at.used < at.node->run(); }
  uint64_t IndexHash(ScopeId scope, uint64_t prefix_hash) const;
  PrefixNode* Child(const PrefixNode* parent, ScopeId scope, TokenSpan block, uint64_t prefix_hash) const;
  Nearest NearestChild(const PrefixNode* parent, ScopeId scope, TokenSpan tokens) const;
  TreePosition Enter(const TreePosition& at, PrefixNode* child, TokenSpan tokens) const;
  TreePosition Descend(TreePosition at, PrefixNode* child, ScopeId scope, LookAhead& prompt) const;
  TreeMatch Finish(const TreePosition& at, ScopeId scope, TokenSpan tokens) const;
  TreeMatch Deeper(const TreeMatch& a, const TreeMatch& b) const;

  bool CanGrow(const TreePosition& at, ScopeId scope) const;
  void CountChild(PrefixNode& parent, ReachSet reach, int step);
  void AppendSubtree(const PrefixNode& node, int64_t from, std::vector<BlockId>& blocks) const;
  Order::iterator AddChild(PrefixNode* parent, std::unique_ptr<PrefixNode> node);
  std::unique_ptr<PrefixNode> TakeChild(PrefixNode* node);
  std::optional<BlockId> RemoveTailBefore(Order::iterator added);
  TreePosition SplitAt(const TreePosition& at);
  std::unique_ptr<PrefixNode> DetachUpper(PrefixNode* node, int64_t blocks);

  absl::Status CheckNode(const PrefixNode& node) const;
  absl::Status CheckPlace(const PrefixNode& node) const;
  absl::Status CheckRecords(const PrefixNode& node) const;
  absl::Status CheckReach(const PrefixNode& node, const BlockId* before, const Block& record) const;
  absl::Status CheckOrder() const;

  const int block_tokens_;
  const BlockHasher& hasher_;
  BlockPool& pool_;
  std::unique_ptr<PrefixNode> root_;
  Order order_;  // owns every node but the root: by parent, then scope, then tokens
  absl::flat_hash_set<PrefixNode*, NodeHash, NodeEqual> index_;  // nodes that begin with a complete block
  int64_t tokens_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PREFIX_TREE_H_
