// Random operations on stores with lower tiers, transfers done, delayed and failed at random, requests gone and stores
// restarted at any moment, prefixes pinned, tenants purged: the bytes behind every hit are always the right ones, no
// hit is longer than what was ever published, and while no tier refuses or overflows and nothing expires, none is
// shorter either. What is pinned is a hit, what was purged is none, and what expires leaves nothing behind.

#include <algorithm>
#include <list>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "tests/prefix_store/naive_cache.h"
#include "tests/prefix_store/tiered_store.h"

namespace headstart::testing {
namespace {

constexpr EvictionPolicyKind kPolicies[] = {EvictionPolicyKind::kHitDensity, EvictionPolicyKind::kLru,
                                            EvictionPolicyKind::kLfu, EvictionPolicyKind::kSegmentedLru};

enum class Weather {
  kFair,   // lower tiers with room for all
  kTight,  // small ones that work, perhaps host memory alone
  kRough,  // a small disk that fails and lies
};

const Scope kTenant = Scope::Tenant("t");

class TieredWorld {
 public:
  TieredWorld(uint32_t seed, Weather weather) : random_(seed), weather_(weather), disk_(DiskBlocks()) {
    setup_ = {.device = 12 + Below(30),
              .host = HostBlocks(),
              .block_tokens = Below(2) == 0 ? 8 : 16,
              .hash_bits = Below(3) == 0 ? 1 : 64,
              .policy = kPolicies[Below(std::ssize(kPolicies))]};
    expires_ = Below(3) == 0;
    has_disk_ = weather_ != Weather::kTight || Below(2) == 0;
    Open(kFirstDay);
  }

  void Step() {
    const int choice = Below(1000);
    if (choice < 350) {
      Acquire();
    } else if (choice < 700) {
      if (!running_.empty()) Advance(Pick());
    } else if (choice < 850) {
      if (!running_.empty()) running_.erase(Pick());
    } else if (choice < 965) {
      Progress();
    } else if (choice < 987) {
      ChangePins();
    } else if (choice < 990) {
      Purge();
    } else if (choice < 994) {
      Restart();
    } else {
      Upset();
    }
    ASSERT_OK(store_->store->Check());
  }

  void Finish() {
    running_.clear();
    pins_.clear();
    HealDisk();
    store_->now = AgeMs{static_cast<int64_t>(store_->now) + 100'000};
    store_->Settle();
    const PrefixStoreStats stats = store_->store->stats();
    EXPECT_EQ(stats.leased_blocks, 0);
    EXPECT_EQ(stats.free_blocks + stats.evictable_blocks, stats.pool_blocks);
    EXPECT_EQ(stats.disk_used_blocks, std::ssize(disk_.records));
    EXPECT_TRUE(weather_ != Weather::kFair || stats.dropped_blocks == 0);
    EXPECT_TRUE(weather_ == Weather::kRough || stats.bad_blocks + stats.disk_failures == 0);
    EXPECT_EQ(stats.pinned_blocks, 0);
    EXPECT_FALSE(store_->store->RemovalsPending());
    if (expires_) {
      store_->wall += absl::Hours(1);
    } else {
      store_->store->Flush();
    }
    store_->Settle();
    EXPECT_EQ(store_->store->stats().free_blocks, stats.pool_blocks);
    EXPECT_EQ(store_->store->stats().host_used_blocks, 0);
    EXPECT_TRUE(disk_.records.empty());
  }

 private:
  struct Sequence {
    Running running;
    int64_t complete = -1;  // not computed yet
    bool stopped = false;
  };
  using Iterator = std::list<Sequence>::iterator;

  void Open(absl::Time wall) {
    store_ = std::make_unique<TieredStore>(setup_, has_disk_ ? &disk_ : nullptr, wall);
    if (!has_disk_) naive_.Clear();
  }

  int64_t DiskBlocks() { return weather_ == Weather::kFair ? 100'000 : 1 + Below(60); }

  int64_t HostBlocks() {
    constexpr int kSmallArena = 32;  // one that is nothing but a way to the disk
    if (weather_ == Weather::kFair) return kSmallArena + 8;
    return 1 + Below(20) + (weather_ == Weather::kTight ? kSmallArena : 0);
  }

  int Below(int limit) { return static_cast<int>(random_() % limit); }
  Iterator Pick() { return std::next(running_.begin(), Below(static_cast<int>(running_.size()))); }

  Tokens RandomTokens() {
    Tokens tokens;
    if (!seen_.empty() && Below(4) != 0) {
      const Tokens& earlier = seen_[Below(static_cast<int>(seen_.size()))];
      tokens.assign(earlier.begin(), earlier.begin() + 1 + Below(static_cast<int>(earlier.size())));
    }
    const int more = tokens.empty() ? 1 + Below(60) : Below(30);
    for (int i = 0; i < more; ++i) tokens.push_back(TokenId{Below(3)});
    if (tokens.size() > 120) tokens.resize(60);
    if (seen_.size() < 80) seen_.push_back(tokens);
    return tokens;
  }

  void Acquire() {
    const Tokens tokens = RandomTokens();
    const Scope scope = PickScope();
    const AcquireRequest request{.scope = scope,
                                 .tokens = tokens,
                                 .priority = static_cast<int8_t>(Below(3) - 1),
                                 .ttl = expires_ ? absl::Seconds(Below(30)) : absl::InfiniteDuration()};
    if (weather_ == Weather::kFair) store_->Settle();  // the disk keeps up
    if (expires_) store_->store->Poll();               // what has expired hides nothing
    const int64_t most = naive_.Hit(scope, tokens);
    const Match match = store_->store->Lookup(scope, tokens);
    ASSERT_LE(match.matched_tokens, most);
    ASSERT_EQ(match.by_tier.sum(), match.matched_tokens);
    if (weather_ == Weather::kFair && !expires_) {
      ASSERT_EQ(match.matched_tokens, most)
          << "nothing computed is lost; dropped " << store_->store->stats().dropped_blocks;
    }
    auto blocks = store_->store->Acquire(request);
    if (!blocks.ok()) return;  // the device is held by others
    ASSERT_LE(blocks->cached_tokens(), match.matched_tokens);
    ASSERT_EQ(blocks->cached_by_tier().sum(), blocks->cached_tokens());
    running_.push_back({{*std::move(blocks), scope, tokens}});
  }

  void Advance(Iterator sequence) {
    Running& running = sequence->running;
    if (sequence->complete < 0) {
      const LoadState state = running.blocks.load_state();
      if (state == LoadState::kLoading) return;
      if (state == LoadState::kFailed) {
        ASSERT_EQ(weather_, Weather::kRough);
        running_.erase(sequence);
        return;
      }
      for (const BlockCopy& copy : running.blocks.copies()) store_->memory.Copy(copy, running.scope);
      running.blocks.CopiesDone();
      sequence->complete = running.hit();
      ExpectRight(*sequence);
      return;
    }
    if (sequence->complete == std::ssize(running.tokens)) {
      if (!running.blocks.Reserve(std::ssize(running.tokens) + 1).ok()) return;
      running.tokens.push_back(TokenId{Below(3)});
    }
    const int64_t end = std::min<int64_t>(std::ssize(running.tokens), sequence->complete + 1 + Below(40));
    const Tokens computed(running.tokens.begin(), running.tokens.begin() + end);
    running.blocks.Take(end);
    store_->memory.Compute(running.blocks.slots(), running.scope, computed, sequence->complete);
    sequence->complete = end;
    if (Below(4) != 0) {
      Publish(*sequence, computed);
    }
    ExpectRight(*sequence);
  }

  // A sequence that computed what another one is loading just then publishes no more.
  void Publish(Sequence& sequence, const Tokens& computed) {
    sequence.running.blocks.Publish(computed);
    if (expires_) store_->store->Poll();
    const int64_t found = store_->store->Lookup(sequence.running.scope, computed).matched_tokens;
    const bool all = found == std::ssize(computed) - 1;
    ASSERT_TRUE(all || sequence.stopped || store_->store->stats().transfers_pending > 0 || flushed_);
    sequence.stopped |= !all;
    naive_.Publish(sequence.running.scope, computed, all ? std::ssize(computed) : found);
  }

  void ExpectRight(const Sequence& sequence) {
    ASSERT_EQ(store_->memory.FirstWrong(sequence.running.blocks.slots(), sequence.running.scope,
                                        sequence.running.tokens, sequence.complete, Writers::kAreEqual),
              std::nullopt);
  }

  void Progress() {
    store_->now = AgeMs{static_cast<int64_t>(store_->now) + Below(500)};
    store_->wall += absl::Seconds(Below(5));
    for (int i = Below(6); i > 0; --i) store_->io.RunOne(Below(2) == 0 ? IoLane::kRead : IoLane::kWrite);
    store_->store->Poll();
    if (Below(3) == 0) store_->Settle();
  }

  Scope PickScope() { return Below(3) == 0 ? kTenant : Scope::Public(); }

  struct Pinned {
    Scope scope;
    Tokens tokens;
    PinnedPrefix pin;
  };

  void ChangePins() {
    if (expires_) store_->store->Poll();
    for (const Pinned& pinned : pins_) {
      const int64_t found = store_->store->Lookup(pinned.scope, pinned.tokens).matched_tokens;
      ASSERT_GE(found, std::min<int64_t>(pinned.pin.pinned_tokens(), std::ssize(pinned.tokens) - 1));
    }
    if (!pins_.empty() && Below(2) == 0) pins_.erase(std::next(pins_.begin(), Below(static_cast<int>(pins_.size()))));
    const Scope scope = PickScope();
    const Tokens tokens = RandomTokens();
    auto pin = store_->store->Pin(scope, tokens);
    const PrefixStoreStats stats = store_->store->stats();
    ASSERT_LE(stats.pinned_blocks, stats.pool_blocks / 2);
    if (!pin.ok()) return;
    ASSERT_GT(pin->pinned_tokens(), 0);
    ASSERT_LE(pin->pinned_tokens(), naive_.Hit(scope, tokens + Count(900, 1)));
    pins_.push_back({scope, tokens, *std::move(pin)});
  }

  void Purge() {
    store_->store->PurgeTenant("t");
    for (Sequence& sequence : running_) sequence.stopped |= sequence.running.scope == kTenant;
    ASSERT_OK(store_->store->Check());
    store_->Settle();
    if (store_->store->RemovalsPending()) return;  // a restart may find what could not be removed
    naive_.Forget(kTenant);
    for (const auto& [key, record] : disk_.records) ASSERT_TRUE(record.meta.scope.is_public());
  }

  // As killed (without a word), or as shut down.
  void Restart() {
    running_.clear();
    pins_.clear();
    if (weather_ == Weather::kFair) {
      do {
        store_->Settle();
      } while (store_->store->StoreAll() > 0);
    }
    const absl::Time wall = store_->wall;
    store_.reset();
    Open(wall);
  }

  void HealDisk() {
    disk_.write_status = disk_.read_status = disk_.clear_status = disk_.recover_status = absl::OkStatus();
  }

  void Upset() {
    if (weather_ != Weather::kRough) return;
    const int choice = Below(8);
    if (choice == 6) disk_.clear_status = absl::UnavailableError("undeletable");
    if (choice == 7) {  // at the next start
      disk_.recover_status = absl::UnavailableError("unreadable");
      disk_.recoverable = Below(20);
    }
    if (choice == 0) disk_.write_status = absl::ResourceExhaustedError("full");
    if (choice == 1) disk_.read_status = absl::UnavailableError("unreadable");
    if (choice == 2) HealDisk();
    if (choice == 3 && !disk_.records.empty()) {
      auto& record = std::next(disk_.records.begin(), Below(static_cast<int>(disk_.records.size())))->second;
      record.bytes[Below(static_cast<int>(record.bytes.size()))] ^= std::byte{1};
    }
    if (choice == 4 && Below(4) == 0) {
      store_->store->Flush();
      flushed_ = true;
      store_->Settle();
      if (disk_.records.empty()) naive_.Clear();  // else a restart may find what could not be removed
    }
  }

  std::mt19937 random_;
  Weather weather_;
  SimulatedDisk disk_;
  TieredSetup setup_;
  std::unique_ptr<TieredStore> store_;
  NaiveCache naive_;
  std::vector<Tokens> seen_;
  std::list<Sequence> running_;
  std::list<Pinned> pins_;
  bool has_disk_ = true;
  bool expires_ = false;  // all requests have a time to live
  bool flushed_ = false;  // what ran then publishes no more
};

class TieredOperations : public ::testing::TestWithParam<Weather> {};

TEST_P(TieredOperations, NeverGiveWrongBytes) {
  constexpr int kWorlds = 300;
  constexpr int kSteps = 500;
  for (int seed = 0; seed < kWorlds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    TieredWorld world(seed, GetParam());
    for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) world.Step();
    if (!HasFailure()) world.Finish();
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Weather, TieredOperations,
                         ::testing::Values(Weather::kFair, Weather::kTight, Weather::kRough));

}  // namespace
}  // namespace headstart::testing
