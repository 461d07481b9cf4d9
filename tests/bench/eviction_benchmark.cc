// What a policy costs for each call with many blocks tracked: uses (Untrack and Track), evictions (Victim, Untrack and
// Track) and the model's part at the end of a sequence. Blocks lie in memory in no order, as they do after a while.

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "prefix_store/eviction/policy_kind.h"

namespace headstart {
namespace {

constexpr int kSequenceBlocks = 64;

class Tracked {
 public:
  Tracked(EvictionPolicyKind kind, int64_t blocks)
      : policy_(MakeEvictionPolicy(kind, blocks, model_)), order_(blocks), hits_(blocks) {
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const uint32_t block : order_) Track(block);
  }

  EvictionPolicy& policy() { return *policy_; }
  AgeMs now() const { return now_; }

  // As a running store would: a sequence of blocks each few milliseconds, some of which go on.
  void Track(uint32_t block) {
    if (in_sequence_ == 0) EndSequence();
    --in_sequence_;
    policy_->Track(BlockId{block}, {.hits = hits_[block], .tokens = 16, .last_use = use_});
  }

  void Use(uint32_t block) {
    policy_->Untrack(BlockId{block}, UntrackReason::kLeased);
    ++hits_[block];
    Track(block);
  }

  uint32_t Next() { return order_[place_++ % order_.size()]; }

 private:
  void EndSequence() {
    in_sequence_ = kSequenceBlocks;
    now_ = AgeMs{ToIndex(now_) + 40};
    ++sequences_;
    const uint64_t name = sequences_ % 3 == 0 ? sequences_ - random_() % 1000 : sequences_;
    std::vector<SequenceBlock> blocks;
    for (uint64_t i = 0; i < kSequenceBlocks; ++i) blocks.push_back({name * kSequenceBlocks + i, 0});
    use_ = model_.SequenceEnds(now_, blocks);
  }

  ReuseModel model_;
  std::unique_ptr<EvictionPolicy> policy_;
  std::mt19937 random_{1};
  std::vector<uint32_t> order_;
  std::vector<uint32_t> hits_;
  LastUse use_;
  AgeMs now_{};
  uint64_t sequences_ = 0;
  int in_sequence_ = 0;
  size_t place_ = 0;
};

void BM_Use(benchmark::State& state, EvictionPolicyKind kind) {
  Tracked tracked(kind, state.range(0));
  for (auto _ : state) tracked.Use(tracked.Next());
}

void BM_Evict(benchmark::State& state, EvictionPolicyKind kind) {
  Tracked tracked(kind, state.range(0));
  for (auto _ : state) {
    const BlockId victim = *tracked.policy().Victim(tracked.now(), [](BlockId) { return true; });
    tracked.policy().Untrack(victim, UntrackReason::kEvicted);
    tracked.Track(ToIndex(victim));
  }
}

BENCHMARK_CAPTURE(BM_Use, lru, EvictionPolicyKind::kLru)->Arg(10'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(BM_Use, hit_density, EvictionPolicyKind::kHitDensity)->Arg(10'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(BM_Evict, lru, EvictionPolicyKind::kLru)->Arg(10'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(BM_Evict, hit_density, EvictionPolicyKind::kHitDensity)->Arg(10'000)->Arg(1'000'000);

// By the blocks of a sequence; the quarter of a millisecond that the fit takes every 64 sequences is in it.
void BM_SequenceEnds(benchmark::State& state) {
  ReuseModel model;
  std::vector<SequenceBlock> blocks(state.range(0));
  uint64_t name = 0;
  for (auto _ : state) {
    ++name;
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = {name * 0x9e3779b97f4a7c15 + i, 0};
    benchmark::DoNotOptimize(model.SequenceEnds(AgeMs{static_cast<int64_t>(name) * 40}, blocks));
  }
}
BENCHMARK(BM_SequenceEnds)->Arg(16)->Arg(256)->Arg(2048);

}  // namespace
}  // namespace headstart
