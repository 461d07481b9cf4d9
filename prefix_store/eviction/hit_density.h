// Hit density: gives up the block with the fewest hits to be expected for each second that it is kept.
//
// What to expect comes from a ReuseModel, by the block's class and age. Blocks lie in a list for each class, bucket of
// ages and priority, oldest first, and move on from bucket to bucket; the lists are ordered by worth, and a bit for
// each says whether it holds anything. So finding a victim takes the same time with a thousand blocks and with a
// million.
//
// Priority: a block of a higher one counts as 64 times as worth keeping for each step. That is more than what chats,
// scans and shared prefixes differ by while they are in use, and less than what hours without use take away: a high
// priority keeps nothing for ever.
//
// A block that may not go when its turn comes (another one still needs it) is set aside, so that no call walks over it
// again; each call asks anew after a few of those.
//
// Thread-safety: none; the scheduler thread's.
// Ownership: the model outlives the policy, and serves others as well.
// Memory: 12 bytes a block, and 36 a batch.

#ifndef HEADSTART_PREFIX_STORE_EVICTION_HIT_DENSITY_H_
#define HEADSTART_PREFIX_STORE_EVICTION_HIT_DENSITY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "prefix_store/eviction/id_lists.h"
#include "prefix_store/eviction/policy.h"
#include "prefix_store/eviction/reuse_model.h"

namespace headstart {

class HitDensityPolicy : public EvictionPolicy {
 public:
  explicit HitDensityPolicy(const ReuseModel& model);

  std::string_view name() const override { return "hit-density"; }
  void Track(BlockId block, const BlockFacts& facts) override;
  void Untrack(BlockId block, UntrackReason reason) override;
  std::optional<BlockId> Victim(AgeMs now, absl::FunctionRef<bool(BlockId)> may_go) override;
  bool Contains(BlockId block) const override { return blocks_.Contains(block); }
  int64_t size() const override { return blocks_.size(); }
  void Reset() override;
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)> visit) const override;

 private:
  static constexpr int kPriorities = 3;

  // Numbers both a batch and the list of its blocks; the list before the first batch is of those set aside.
  enum class BatchId : uint32_t {};
  static constexpr int kSetAside = 0;

  // Of a priority and a cell of the model, where batches lie.
  int ListOf(int priority, const ReuseModel::Cell& cell) const {
    return priority * cells_ + cell.block_class * kAgeBuckets + cell.age_bucket;
  }

  BatchId BatchFor(const BlockFacts& facts);
  BatchId NewBatch(AgeMs last_use);
  void PushBatch(int list, BatchId batch);
  void RemoveBatch(BatchId batch);
  void Remove(BlockId block);
  void SetAside(BlockId block);
  void MarkEmptiness(int list);
  void Advance(AgeMs now);
  bool AdvanceList(int list, int bucket, int64_t& moves);
  void FollowModel();
  std::optional<BlockId> SetAsideThatMayGo(int64_t tries, absl::FunctionRef<bool(BlockId)> may_go);
  std::optional<int> LeastWorth() const;
  std::optional<int> FirstRank(int priority) const;

  const ReuseModel& model_;
  const int cells_;  // of the model, and lists of each priority

  IdLists<BlockId> blocks_;         // by batch, after those set aside
  IdLists<BatchId> batches_;        // by priority and cell
  std::vector<AgeMs> last_use_;     // by batch
  std::vector<BatchId> no_longer_;  // batches without blocks, to be used again
  std::array<int64_t, kPriorities> batches_of_{};
  int64_t set_aside_ = 0;

  // The batch that was added to last, and what is in it.
  std::optional<BatchId> open_;
  int open_kind_ = 0;  // its list for age zero

  AgeMs now_{};
  AgeMs next_advance_{};

  int64_t revision_ = 0;            // of the model's order that the following are made for
  std::vector<uint16_t> rank_;      // of a cell in it
  std::vector<uint64_t> occupied_;  // for each priority, a bit for each rank whose list holds a batch
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_EVICTION_HIT_DENSITY_H_
