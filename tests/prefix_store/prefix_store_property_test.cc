// A million random operations against a naive model and a simulated memory: hits are exact while nothing is evicted,
// never longer than the model's when something is, and the bytes behind every hit are always the right ones.

#include <algorithm>
#include <list>
#include <random>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/prefix_store/naive_cache.h"
#include "tests/prefix_store/simulated_memory.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

constexpr EvictionPolicyKind kPolicies[] = {EvictionPolicyKind::kHitDensity, EvictionPolicyKind::kLru,
                                            EvictionPolicyKind::kLfu, EvictionPolicyKind::kSegmentedLru};

enum class Room { kPlenty, kTight };

// One store under random load.
class World {
 public:
  World(uint32_t seed, Room room, int hash_bits)
      : random_(seed),
        room_(room),
        options_(RandomOptions(hash_bits)),
        alphabet_(1 + Below(3)),
        max_tokens_(room == Room::kPlenty ? 60 : 1 + Below(60)),
        store_(options_),
        memory_(options_.block_tokens, options_.device_blocks) {
    for (int i = Below(3); i > 0; --i) scopes_.push_back(Scope::Tenant("t", std::string(i, 'p')));
  }

  void Step() {
    const int choice = Below(1000);
    if (choice < 300) {
      Acquire();
    } else if (choice < 700) {
      if (!running_.empty()) Advance(Pick());
    } else if (choice < 850) {
      if (!running_.empty()) LetGo(Pick());
    } else if (choice < 998) {
      Lookup();
    } else {
      Flush();
    }
    if (room_ == Room::kTight || Below(200) == 0) {
      ASSERT_OK(store_.Check());
    }
  }

  void Finish() {
    while (!running_.empty()) LetGo(running_.begin());
    ASSERT_OK(store_.Check());
    const PrefixStoreStats stats = store_.stats();
    EXPECT_EQ(stats.leased_blocks, 0);
    EXPECT_EQ(stats.hit_tokens, hit_tokens_);
    EXPECT_EQ(stats.queried_tokens, queried_tokens_);
    EXPECT_EQ(stats.written_tokens, written_tokens_);
    EXPECT_TRUE(room_ == Room::kTight || stats.evicted_blocks == 0);
    EXPECT_EQ(store_.Flush(), stats.evictable_blocks);
    EXPECT_EQ(store_.stats().free_blocks, options_.device_blocks);
  }

 private:
  struct Sequence {
    SequenceBlocks blocks;
    Scope scope;
    Tokens tokens;
    int64_t claimed;   // tokens announced at acquisition
    int64_t complete;  // tokens whose bytes are there
    bool copied;
    bool publishes;
  };
  using Iterator = std::list<Sequence>::iterator;

  int Below(int limit) { return static_cast<int>(random_() % limit); }
  Iterator Pick() { return std::next(running_.begin(), Below(static_cast<int>(running_.size()))); }
  Scope PickScope() { return scopes_[Below(static_cast<int>(scopes_.size()))]; }

  PrefixStoreOptions RandomOptions(int hash_bits) {
    return {.block_tokens = Below(2) == 0 ? 8 : 16,
            .device_blocks = room_ == Room::kPlenty ? 12'000 : 1 + Below(40),
            .policy = kPolicies[Below(std::ssize(kPolicies))],
            .hash_bits = hash_bits};
  }

  // Often an earlier prompt's beginning, so that branches appear at every offset.
  Tokens RandomTokens() {
    Tokens tokens;
    if (!seen_.empty() && Below(4) != 0) {
      const Tokens& earlier = seen_[Below(static_cast<int>(seen_.size()))];
      tokens.assign(earlier.begin(), earlier.begin() + 1 + Below(static_cast<int>(earlier.size())));
    }
    const int more = tokens.empty() ? 1 + Below(max_tokens_) : Below(max_tokens_ / 2 + 1);
    for (int i = 0; i < more; ++i) tokens.push_back(TokenId{Below(alphabet_)});
    if (std::ssize(tokens) > 2 * max_tokens_) tokens.resize(max_tokens_);
    Remember(tokens);
    return tokens;
  }

  void Remember(const Tokens& tokens) {
    if (seen_.size() < 50) {
      seen_.push_back(tokens);
    } else {
      seen_[Below(50)] = tokens;
    }
  }

  int64_t BlocksFor(int64_t tokens) const { return (tokens + options_.block_tokens - 1) / options_.block_tokens; }

  void Acquire() {
    const Tokens tokens = RandomTokens();
    const AcquireRequest request{.scope = PickScope(),
                                 .tokens = tokens,
                                 .read_cache = Below(10) != 0,
                                 .write_cache = Below(10) != 0,
                                 .reserve_tokens = Below(3) == 0 ? Below(2 * max_tokens_) : 0};
    const Match predicted = store_.Lookup(request.scope, tokens);
    const PrefixStoreStats before = store_.stats();
    auto blocks = store_.Acquire(request);
    if (!blocks.ok()) return ExpectRefused(request, before, blocks.status());
    const int64_t hit = blocks->cached_tokens();
    ASSERT_EQ(std::ssize(blocks->slots()), BlocksFor(hit));
    const int64_t needed = BlocksFor(std::max<int64_t>(std::ssize(tokens), request.reserve_tokens));
    ASSERT_EQ(store_.stats().reserved_blocks, before.reserved_blocks + needed - BlocksFor(hit));
    if (Below(3) == 0) {
      blocks->Take(needed * options_.block_tokens);
      ASSERT_EQ(std::ssize(blocks->slots()), needed);
    }
    ExpectHit(request, predicted, *blocks);
    hit_tokens_ += hit;
    if (request.read_cache) queried_tokens_ += std::ssize(tokens);
    running_.push_back(
        {*std::move(blocks), request.scope, tokens, std::ssize(tokens), hit, false, request.write_cache});
    if (Below(2) == 0) CarryOutCopies(running_.back());
  }

  void ExpectHit(const AcquireRequest& request, const Match& predicted, const SequenceBlocks& blocks) {
    const int64_t hit = blocks.cached_tokens();
    if (!request.read_cache) {
      ASSERT_EQ(hit, 0);
      ASSERT_EQ(blocks.miss_reason(), MissReason::kCachingOff);
    } else if (hit != predicted.matched_tokens) {  // the block to copy from had to give way
      ASSERT_EQ(room_, Room::kTight);
      ASSERT_EQ(hit, predicted.matched_tokens / options_.block_tokens * options_.block_tokens);
      ASSERT_EQ(blocks.miss_reason(), MissReason::kEvicted);
    } else {
      ASSERT_EQ(blocks.miss_reason(), predicted.miss_reason);
    }
    ASSERT_EQ(blocks.copies().size(), hit % options_.block_tokens == 0 ? 0 : 1);
  }

  void ExpectRefused(const AcquireRequest& request, const PrefixStoreStats& before, const absl::Status& status) {
    const int64_t needed = BlocksFor(std::max<int64_t>(std::ssize(request.tokens), request.reserve_tokens));
    const bool never = needed > options_.device_blocks;
    ASSERT_EQ(status.code(), never ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kResourceExhausted);
    ASSERT_TRUE(never || before.leased_blocks + before.reserved_blocks > 0)
        << "an idle store refuses nothing that fits";
    const PrefixStoreStats after = store_.stats();
    ASSERT_EQ(after.leased_blocks, before.leased_blocks);
    ASSERT_EQ(after.evictable_blocks, before.evictable_blocks);
    ASSERT_EQ(after.acquisitions, before.acquisitions);
  }

  // Between acquisition and this, others may have run: the source must still hold what it held.
  void CarryOutCopies(Sequence& sequence) {
    for (const BlockCopy& copy : sequence.blocks.copies()) memory_.Copy(copy, sequence.scope);
    sequence.blocks.CopiesDone();
    sequence.copied = true;
    ExpectRight(sequence);
  }

  // A prefill chunk or, when the prompt is done, a decoding step.
  void Advance(Iterator sequence) {
    if (!sequence->copied) CarryOutCopies(*sequence);
    Tokens& tokens = sequence->tokens;
    if (sequence->complete == std::ssize(tokens)) {
      if (!sequence->blocks.Reserve(std::ssize(tokens) + 1).ok()) return;
      tokens.push_back(TokenId{Below(alphabet_)});
      Remember(tokens);
    }
    const int64_t chunk = 1 + Below(40);
    const int64_t end = std::min<int64_t>(std::ssize(tokens), sequence->complete + chunk);
    const Tokens computed(tokens.begin(), tokens.begin() + end);
    sequence->blocks.Take(end);
    memory_.Compute(sequence->blocks.slots(), sequence->scope, computed, sequence->complete);
    sequence->complete = end;
    if (Below(5) != 0) Publish(*sequence, computed);
    ExpectRight(*sequence);
  }

  void Publish(Sequence& sequence, const Tokens& computed) {
    const int64_t written = sequence.blocks.Publish(computed);
    written_tokens_ += written;
    if (!sequence.publishes) {
      ASSERT_EQ(written, 0);
      return;
    }
    naive_.Publish(sequence.scope, computed, std::ssize(computed));
    if (computed.size() < 2) return;
    ASSERT_EQ(store_.Lookup(sequence.scope, computed).matched_tokens, std::ssize(computed) - 1);
  }

  void LetGo(Iterator sequence) {
    if (sequence->copied) ExpectRight(*sequence);
    running_.erase(sequence);
  }

  void Lookup() {
    const Scope scope = PickScope();
    const Tokens tokens = RandomTokens();
    const Match match = store_.Lookup(scope, tokens);
    const int64_t most = naive_.Hit(scope, tokens);
    if (room_ == Room::kTight) {
      ASSERT_LE(match.matched_tokens, most);
      return;
    }
    ASSERT_EQ(match.matched_tokens, most);
    ASSERT_EQ(match.pending_tokens, Pending(scope, tokens, most));
    ASSERT_EQ(match.miss_reason == MissReason::kNone, tokens.size() > 1 && most == std::ssize(tokens) - 1);
  }

  int64_t Pending(const Scope& scope, const Tokens& tokens, int64_t matched) const {
    int64_t reachable = matched;
    for (const Sequence& sequence : running_) {
      if (!sequence.publishes || !(sequence.scope.is_public() || sequence.scope == scope)) continue;
      const auto claimed_end = sequence.tokens.begin() + sequence.claimed;
      const auto [mine, theirs] = std::mismatch(tokens.begin(), tokens.end(), sequence.tokens.begin(), claimed_end);
      const int64_t blocks = (mine - tokens.begin()) / options_.block_tokens;
      reachable = std::max(reachable, std::min(blocks * options_.block_tokens, std::ssize(tokens) - 1));
    }
    return reachable - matched;
  }

  void Flush() {
    const int64_t evictable = store_.stats().evictable_blocks;
    ASSERT_EQ(store_.Flush(), evictable);
    ASSERT_EQ(store_.stats().cached_tokens, 0);
    naive_.Clear();
    for (Sequence& sequence : running_) sequence.publishes = false;
  }

  void ExpectRight(const Sequence& sequence) {
    ASSERT_EQ(memory_.FirstWrong(sequence.blocks.slots(), sequence.scope, sequence.tokens, sequence.complete),
              std::nullopt);
  }

  std::mt19937 random_;
  Room room_;
  PrefixStoreOptions options_;
  int alphabet_;
  int max_tokens_;
  PrefixStore store_;
  SimulatedMemory memory_;
  NaiveCache naive_;
  std::vector<Scope> scopes_ = {Scope::Public()};
  std::vector<Tokens> seen_;
  std::list<Sequence> running_;
  int64_t hit_tokens_ = 0;
  int64_t queried_tokens_ = 0;
  int64_t written_tokens_ = 0;
};

class RandomOperations : public ::testing::TestWithParam<std::tuple<Room, int>> {};

TEST_P(RandomOperations, AgreeWithTheNaiveCache) {
  const auto [room, hash_bits] = GetParam();
  constexpr int kWorlds = 125;
  constexpr int kSteps = 1000;  // times the eight parameters: a million
  for (int seed = 0; seed < kWorlds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    World world(seed, room, hash_bits);
    for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) world.Step();
    if (!HasFailure()) world.Finish();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, RandomOperations,
                         ::testing::Combine(::testing::Values(Room::kPlenty, Room::kTight),
                                            ::testing::Values(0, 1, 8, 64)));

}  // namespace
}  // namespace headstart::testing
