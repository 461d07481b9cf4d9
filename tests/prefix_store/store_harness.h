// A store, its simulated memory, and the verbs of a scheduler small enough to read in a test:
//
//   StoreHarness harness({.block_tokens = 16, .device_blocks = 64});
//   EXPECT_EQ(harness.Run(Count(0, 48)), 0);          // acquire, compute, publish, let go; returns the hit
//   auto running = harness.Start(Count(0, 48));        // still holds its blocks
//
// Every verb checks the bytes of whatever was hit and every invariant of the store.

#ifndef HEADSTART_TESTS_PREFIX_STORE_STORE_HARNESS_H_
#define HEADSTART_TESTS_PREFIX_STORE_STORE_HARNESS_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "prefix_store/prefix_store.h"
#include "tests/prefix_store/simulated_memory.h"
#include "tests/testing/status.h"

namespace headstart::testing {

// `count` tokens first, first + 1, ...
inline Tokens Count(int first, int count) {
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(TokenId{first + i});
  return tokens;
}

inline Tokens operator+(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Tokens Prefix(const Tokens& tokens, int64_t count) { return Tokens(tokens.begin(), tokens.begin() + count); }

struct Running {
  SequenceBlocks blocks;
  Scope scope = Scope::Public();
  Tokens tokens;
  int64_t published = 0;
  int64_t hit() const { return blocks.cached_tokens(); }
};

class StoreHarness {
 public:
  explicit StoreHarness(const PrefixStoreOptions& options)
      : memory(options.block_tokens, options.device_blocks), store(options) {
    EXPECT_OK(PrefixStore::Validate(options));
  }

  // Acquires, copies and computes, but publishes nothing yet.
  Running Begin(AcquireRequest request) {
    auto blocks = store.Acquire(request);
    EXPECT_OK(blocks);
    if (!blocks.ok()) return {};
    Running running{*std::move(blocks), request.scope, Tokens(request.tokens.begin(), request.tokens.end())};
    for (const BlockCopy& copy : running.blocks.copies()) memory.Copy(copy, running.scope);
    ExpectRight(running, running.hit());
    running.blocks.CopiesDone();
    running.blocks.Take(std::max<int64_t>(std::ssize(running.tokens), request.reserve_tokens));
    memory.Compute(running.blocks.slots(), running.scope, running.tokens, running.hit());
    return running;
  }

  Running Start(const Tokens& prompt, const Scope& scope = Scope::Public()) {
    Running running = Begin({.scope = scope, .tokens = prompt});
    Publish(running);
    return running;
  }

  // Returns the hit.
  int64_t Run(const Tokens& prompt, const Scope& scope = Scope::Public()) { return Start(prompt, scope).hit(); }

  void Publish(Running& running) {
    running.published += running.blocks.Publish(running.tokens);
    ExpectRight(running, std::ssize(running.tokens));
  }

  // One decoding step after another.
  void Generate(Running& running, const Tokens& answer) {
    for (const TokenId token : answer) {
      running.tokens.push_back(token);
      ASSERT_OK(running.blocks.Reserve(std::ssize(running.tokens)));
      running.blocks.Take(std::ssize(running.tokens));
      memory.Compute(running.blocks.slots(), running.scope, running.tokens, std::ssize(running.tokens) - 1);
      Publish(running);
    }
  }

  Match Lookup(const Tokens& prompt, const Scope& scope = Scope::Public()) const { return store.Lookup(scope, prompt); }
  int64_t Hit(const Tokens& prompt, const Scope& scope = Scope::Public()) const {
    return Lookup(prompt, scope).matched_tokens;
  }

  void ExpectRight(const Running& running, int64_t count) const {
    EXPECT_EQ(memory.FirstWrong(running.blocks.slots(), running.scope, running.tokens, count), std::nullopt);
    EXPECT_OK(store.Check());
  }

  SimulatedMemory memory;
  PrefixStore store;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_STORE_HARNESS_H_
