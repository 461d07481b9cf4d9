// Leases: who holds which block, and what may go to make room. A held block is in no eviction order; a cached block
// that no one holds is in the policy's; a block that no one holds and the tree does not have is free.
//
// Thread-safety: none; the scheduler thread's.
// Ownership: pool, tree, policy and ghosts outlive it.

#ifndef HEADSTART_PREFIX_STORE_LEASE_H_
#define HEADSTART_PREFIX_STORE_LEASE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "prefix_store/block_pool.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/ghost_list.h"
#include "prefix_store/prefix_tree.h"

namespace headstart {

class Leases {
 public:
  Leases(BlockPool& pool, PrefixTree& tree, EvictionPolicy& policy, const ScopeTable& scopes, GhostList& ghosts,
         const std::function<AgeMs()>& clock)
      : pool_(pool), tree_(tree), policy_(policy), scopes_(scopes), ghosts_(ghosts), clock_(clock) {}

  // Holds a cached block, once more than before.
  void Lease(BlockId block);

  // Lets it go: to the policy when it is cached, else to the pool. To be called deepest first along a path.
  void Release(BlockId block);

  // A block has left the tree while its holders, if any, still have it.
  void Uncached(BlockId block);

  // Blocks that Take could give.
  int64_t available() const { return pool_.free_blocks() + policy_.size(); }

  // Appends `count` blocks with no content, held once, evicting as need be. REQUIRES: count <= available().
  void Take(int64_t count, std::vector<BlockId>& blocks);

  int64_t evicted_blocks() const { return evicted_blocks_; }

 private:
  void EvictOne();
  BlockFacts FactsOf(BlockId block) const;

  BlockPool& pool_;
  PrefixTree& tree_;
  EvictionPolicy& policy_;
  const ScopeTable& scopes_;
  GhostList& ghosts_;
  const std::function<AgeMs()>& clock_;
  int64_t evicted_blocks_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_LEASE_H_
