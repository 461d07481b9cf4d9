// What the prefix store costs, in a tree of a million blocks of 16 tokens. The bars: a lookup of a 32,768-token prompt
// under 150 us; memory under 200 bytes a block beyond its tokens.
//
//   prefix_store_benchmark --benchmark_min_time=0.2

#include <malloc.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "prefix_store/prefix_store.h"

namespace headstart {
namespace {

constexpr int kBlockTokens = 16;
constexpr int64_t kPromptTokens = 32'768;
constexpr int64_t kPromptBlocks = kPromptTokens / kBlockTokens;
constexpr int64_t kTreeBlocks = 1'000'000;

using Tokens = std::vector<TokenId>;

Tokens RandomTokens(std::mt19937& random, int64_t count) {
  Tokens tokens(count);
  for (TokenId& token : tokens) token = TokenId{static_cast<int32_t>(random() % 150'000)};
  return tokens;
}

void Put(PrefixStore& store, const Tokens& tokens) {
  auto blocks = store.Acquire({.tokens = tokens});
  blocks->CopiesDone();
  blocks->Take(std::ssize(tokens));
  blocks->Publish(tokens);
}

size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// A million blocks, and prompts whose every block but the last is among them.
struct Forest {
  enum class Shape {
    kConversations,  // long runs: each prompt leaves an earlier one at a random block
    kBushes,         // the worst case: a branch leaves at every block of a prompt, so each node on the way is one block
  };

  explicit Forest(Shape shape) {
    const size_t start = BytesInUse();
    store =
        std::make_unique<PrefixStore>(PrefixStoreOptions{.block_tokens = kBlockTokens, .device_blocks = kTreeBlocks});
    const size_t empty = BytesInUse();
    std::mt19937 random(1);
    if (shape == Shape::kBushes) {
      constexpr int kBushes = 12;  // 49,000 nodes: enough to be in no processor cache
      for (int i = 0; i < kBushes; ++i) GrowBush(random);
      bytes_a_block = BytesABlock(empty - start, BytesInUse() - empty);
      const size_t bushes = prompts.size();
      while (HasRoom()) GrowConversation(random);
      prompts.resize(bushes);
    } else {
      while (HasRoom()) GrowConversation(random);
      bytes_a_block = BytesABlock(empty - start, BytesInUse() - empty);
    }
  }

  bool HasRoom() const { return store->stats().free_blocks > 2 * kPromptBlocks; }

  // Beyond the tokens: the pool's fixed part for each of its blocks, and what grows with the tree for each block in it.
  double BytesABlock(size_t fixed, size_t grown) const {
    for (const Tokens& prompt : prompts) grown -= prompt.capacity() * sizeof(TokenId);
    const PrefixStoreStats stats = store->stats();
    grown -= stats.cached_tokens * sizeof(TokenId);
    return static_cast<double>(fixed) / kTreeBlocks +
           static_cast<double>(grown) / static_cast<double>(stats.evictable_blocks);
  }

  void GrowConversation(std::mt19937& random) {
    Tokens prompt = RandomTokens(random, kPromptTokens);
    if (!prompts.empty()) {
      const Tokens& earlier = prompts[random() % prompts.size()];
      std::copy_n(earlier.begin(), random() % kPromptBlocks * kBlockTokens, prompt.begin());
    }
    Put(*store, prompt);
    prompts.push_back(std::move(prompt));
  }

  void GrowBush(std::mt19937& random) {
    Tokens prompt = RandomTokens(random, kPromptTokens);
    for (int64_t block = kPromptBlocks; block > 0; --block) {
      Tokens branch(prompt.begin(), prompt.begin() + block * kBlockTokens);
      branch.back() = TokenId{-1};
      Put(*store, branch);
    }
    prompts.push_back(std::move(prompt));
  }

  std::unique_ptr<PrefixStore> store;
  std::vector<Tokens> prompts;
  double bytes_a_block = 0;
};

Forest& Conversations() {
  static Forest forest(Forest::Shape::kConversations);
  return forest;
}

Forest& Bushes() {
  static Forest forest(Forest::Shape::kBushes);
  return forest;
}

void Report(benchmark::State& state, const Forest& forest) {
  const PrefixStoreStats stats = forest.store->stats();
  state.counters["blocks"] = static_cast<double>(stats.evictable_blocks);
  state.counters["nodes"] = static_cast<double>(stats.nodes);
  state.counters["bytes_a_block"] = forest.bytes_a_block;
}

// The same prompt again and again: everything it touches is in the processor's caches.
void BM_LookupWarm(benchmark::State& state, Forest& (*make)()) {
  Forest& forest = make();
  const Tokens& prompt = forest.prompts.back();
  for (auto _ : state) benchmark::DoNotOptimize(forest.store->Lookup(Scope::Public(), prompt));
  Report(state, forest);
}

// Another prompt each time: what it touches comes from memory.
void BM_LookupCold(benchmark::State& state, Forest& (*make)()) {
  Forest& forest = make();
  size_t next = 0;
  int64_t matched = 0;
  for (auto _ : state) {
    const Tokens& prompt = forest.prompts[next++ % forest.prompts.size()];
    matched += forest.store->Lookup(Scope::Public(), prompt).matched_tokens;
  }
  state.counters["matched"] = benchmark::Counter(static_cast<double>(matched), benchmark::Counter::kAvgIterations);
  Report(state, forest);
}

// A tenant looks for its own branch at each node besides.
void BM_LookupAsTenant(benchmark::State& state, Forest& (*make)()) {
  Forest& forest = make();
  const Tokens own = {TokenId{1}, TokenId{2}};
  auto blocks = forest.store->Acquire({.scope = Scope::Tenant("acme"), .tokens = own});
  blocks->Take(std::ssize(own));
  blocks->Publish(own);
  size_t next = 0;
  for (auto _ : state) {
    const Tokens& prompt = forest.prompts[next++ % forest.prompts.size()];
    benchmark::DoNotOptimize(forest.store->Lookup(Scope::Tenant("acme"), prompt));
  }
}

void BM_AcquireAndRelease(benchmark::State& state, Forest& (*make)()) {
  Forest& forest = make();
  size_t next = 0;
  for (auto _ : state) {
    auto blocks = forest.store->Acquire({.tokens = forest.prompts[next++ % forest.prompts.size()]});
    benchmark::DoNotOptimize(blocks);
  }
}

// One token after another on top of a long context, published each time.
void BM_PublishDecodeStep(benchmark::State& state) {
  Forest& forest = Conversations();
  Tokens tokens = forest.prompts.front();
  auto blocks = forest.store->Acquire({.tokens = tokens});
  for (auto _ : state) {
    tokens.push_back(TokenId{7});
    if (!blocks->Reserve(std::ssize(tokens)).ok()) {
      state.SkipWithError("the pool is used up");
      break;
    }
    blocks->Take(std::ssize(tokens));
    benchmark::DoNotOptimize(blocks->Publish(tokens));
  }
}

BENCHMARK_CAPTURE(BM_LookupWarm, conversations, Conversations)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookupCold, conversations, Conversations)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookupAsTenant, conversations, Conversations)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_AcquireAndRelease, conversations, Conversations)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PublishDecodeStep)->Iterations(20'000);
BENCHMARK_CAPTURE(BM_LookupWarm, bushes, Bushes)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookupCold, bushes, Bushes)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookupAsTenant, bushes, Bushes)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headstart
