// ReuseModel: what is learned, while serving, of which cached prefixes are used again and when. One model serves the
// policies of all tiers.
//
// It is told of each sequence that ends, with the hashes of its prefixes, and remembers those ends longer than the
// blocks live. From that it sees
//   * turns: a sequence that contains all but the last block of an earlier one is that conversation's next turn, also
//     when nothing of it was cached any more. A prefix at which many sequences end is a fork, such as a document that
//     questions are asked about, and makes no turns;
//   * reuse, whether it was a hit or came too late: so what it learns does not depend on what was evicted.
//
// Blocks are divided into classes by what usually tells how soon they return, and the classes' rates are counted as
// traffic goes by (reuse_statistics.h). Nothing is fitted beforehand:
//   own blocks, first turn    by the sequence's length: short questions seldom go on
//   own blocks, later turns   by the turn and by how much the turn added: the longer a conversation, the likelier it
//   goes
//                             on; what ends with a pasted file rather does not
//   shared blocks             found more often than its conversation has turns, so others use it: by how often
//
// Thread-safety: none; the scheduler thread's.
// Memory: about 3 MB, whatever the number of blocks.
//
//   ReuseModel model;
//   const LastUse use = model.SequenceEnds(now, blocks);   // then the blocks are tracked with it

#ifndef HEADSTART_PREFIX_STORE_EVICTION_REUSE_MODEL_H_
#define HEADSTART_PREFIX_STORE_EVICTION_REUSE_MODEL_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/eviction/reuse_statistics.h"
#include "prefix_store/eviction/sequence_memory.h"

namespace headstart {

// A block of a sequence that ends.
struct SequenceBlock {
  uint64_t prefix_hash = 0;  // of all tokens up to its end, with the scope's salt
  uint32_t hits = 0;         // acquisitions that found it
};

class ReuseModel {
 public:
  // A class of blocks at an age; what policies keep in order.
  struct Cell {
    uint8_t block_class;
    uint8_t age_bucket;
  };

  ReuseModel();

  // A sequence lets go of its cached blocks, which are given in token order. `now` never goes back; if it does, time
  // stands still.
  LastUse SequenceEnds(AgeMs now, std::span<const SequenceBlock> blocks);

  int classes() const { return statistics_.classes(); }
  int ClassOf(const BlockFacts& facts) const { return ClassOf(facts.last_use, facts.hits); }
  double worth(const Cell& cell) const { return statistics_.worth(cell.block_class, cell.age_bucket); }

  // All cells from the least to the most worth keeping; of equal ones the older first. In force as long as revision()
  // stays the same.
  std::span<const Cell> order() const { return order_; }
  int64_t revision() const { return revision_; }

  // Forgets what it learned.
  void Reset();

  // Calls `visit` with each figure worth watching.
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const;

 private:
  // How a sequence goes on from an earlier one.
  struct Turn {
    uint32_t turn = 1;
    uint32_t added_blocks = 0;
  };

  int ClassOf(const LastUse& use, uint32_t hits) const;
  Turn TurnOf(std::span<const SequenceBlock> blocks);
  void Learn(std::span<const SequenceBlock> blocks, const LastUse& use);
  void CountReuse(SequenceMemory::Prefix& prefix);
  void Watch(SequenceMemory::Prefix& prefix, int block_class);
  void RememberEnd(std::span<const SequenceBlock> blocks, const LastUse& use);
  void Refresh();
  void Order();

  ReuseStatistics statistics_;
  SequenceMemory memory_;
  std::vector<Cell> order_;
  AgeMs now_{};
  int64_t sequences_ = 0;
  int64_t continued_ = 0;
  int64_t reuses_ = 0;
  int64_t revision_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_REUSE_MODEL_H_
