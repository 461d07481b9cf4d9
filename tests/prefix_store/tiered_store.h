// A store with host memory and a disk below it, whose transfers run when the test says so:
//
//   SimulatedDisk disk(100);
//   TieredStore store({.device = 8, .host = 4}, &disk);
//   store.Run(Count(0, 48));                    // as StoreHarness; waits for what it loads
//   store.Thrash(20);                           // pushes everything down
//   EXPECT_EQ(store.Run(Count(0, 48)).disk, 47);

#ifndef HEADSTART_TESTS_PREFIX_STORE_TIERED_STORE_H_
#define HEADSTART_TESTS_PREFIX_STORE_TIERED_STORE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "prefix_store/prefix_store.h"
#include "prefix_store/tier/host_memory.h"
#include "prefix_store/tier/host_tier.h"
#include "tests/prefix_store/simulated_tiers.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/testing/manual_executor.h"
#include "tests/testing/status.h"

namespace headstart::testing {

struct TieredSetup {
  int64_t device = 8;  // slots
  int64_t host = 8;
  int block_tokens = 16;
  int hash_bits = 64;
  Fingerprint fingerprint = {1, 2};
  EvictionPolicyKind policy = EvictionPolicyKind::kLru;
};

// Whether all invariants are verified, which takes time in large stores.
enum class Checking { kOff, kOn };

// What the wall clock says at first.
inline const absl::Time kFirstDay = absl::FromUnixSeconds(1'700'000'000);

class TieredStore {
 public:
  TieredStore(const TieredSetup& setup, SimulatedDisk* disk, absl::Time start = kFirstDay)
      : wall(start), memory(setup.block_tokens, setup.device), device_(memory), host_memory_(NewAnonymousMemory()) {
    if (setup.host > 0) host_ = MakeHost(setup);
    const PrefixStoreOptions options{.block_tokens = setup.block_tokens,
                                     .device_blocks = setup.device,
                                     .policy = setup.policy,
                                     .clock = [this] { return now; },
                                     .wall_clock = [this] { return wall; },
                                     .on_event = [this](const std::string& text) { events.push_back(text); },
                                     .hash_bits = setup.hash_bits};
    store = std::make_unique<PrefixStore>(options, PrefixStoreTiers{.device = &device_,
                                                                    .host = host_.get(),
                                                                    .disk = disk,
                                                                    .io = &io,
                                                                    .fingerprint = setup.fingerprint,
                                                                    .io_clock = [this] { return io_now += io_step; }});
    store->Recover();
    Settle();
  }

  // Carries out all transfers, and those that follow from them.
  void Settle(Checking checking = Checking::kOn) {
    do {
      io.RunAll();
      store->Poll();
    } while (store->stats().transfers_pending > 0);
    if (checking == Checking::kOn) {
      EXPECT_OK(store->Check());
    }
  }

  // Acquires, and waits for what is loaded; acquires anew when that fails.
  Running Begin(const AcquireRequest& request) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      auto blocks = store->Acquire(request);
      EXPECT_OK(blocks);
      if (!blocks.ok()) return {};
      EXPECT_OK(store->Check());
      if (blocks->load_state() == LoadState::kLoading) Settle();
      if (blocks->load_state() != LoadState::kReady) continue;
      return Compute(*std::move(blocks), request);
    }
    ADD_FAILURE() << "loading fails again and again";
    return {};
  }

  Running Start(const Tokens& prompt, const Scope& scope = Scope::Public()) {
    Running running = Begin({.scope = scope, .tokens = prompt});
    running.published += running.blocks.Publish(prompt);
    return running;
  }

  // Where the hit came from.
  TokensByTier Run(const Tokens& prompt, const Scope& scope = Scope::Public()) {
    const TokensByTier hit = Start(prompt, scope).blocks.cached_by_tier();
    Settle();
    return hit;
  }

  // Runs `prompts` prompts of a block each that nothing shares.
  void Thrash(int prompts) {
    for (int i = 0; i < prompts; ++i) Run(Count(1'000'000 + 100 * thrashed_++, 16));
  }

  Running Compute(SequenceBlocks blocks, const AcquireRequest& request) {
    Running running{std::move(blocks), request.scope, Tokens(request.tokens.begin(), request.tokens.end())};
    for (const BlockCopy& copy : running.blocks.copies()) memory.Copy(copy, running.scope);
    const auto wrong =
        memory.FirstWrong(running.blocks.slots(), running.scope, running.tokens, running.hit(), Writers::kAreEqual);
    EXPECT_EQ(wrong, std::nullopt);
    running.blocks.CopiesDone();
    // In steps, as a scheduler would.
    const int64_t length = std::ssize(running.tokens);
    for (int64_t done = running.hit(); done < length;) {
      const int64_t end = std::min<int64_t>(length, done + 256);
      running.blocks.Take(end);
      memory.Compute(running.blocks.slots(), running.scope, Prefix(running.tokens, end), done);
      done = end;
      if (end < length) Settle(Checking::kOff);
    }
    return running;
  }

  std::vector<std::string> events;
  AgeMs now{0};
  absl::Time wall = kFirstDay;
  absl::Time io_now = absl::UnixEpoch();
  absl::Duration io_step = absl::ZeroDuration();  // what each look at the I/O clock advances it by
  SimulatedMemory memory;
  ManualExecutor io;

 private:
  std::unique_ptr<HostTier> MakeHost(const TieredSetup& setup) {
    auto host = HostTier::Create({.capacity_blocks = setup.host, .block_bytes = memory.block_bytes()}, *host_memory_);
    EXPECT_OK(host);
    return *std::move(host);
  }

  SimulatedDevice device_;
  std::unique_ptr<HostMemory> host_memory_;
  std::unique_ptr<HostTier> host_;
  int thrashed_ = 0;

 public:
  std::unique_ptr<PrefixStore> store;  // last: it uses all of the above
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_TIERED_STORE_H_
