// Blocks to put into tiers, and short ways to do so.
//
//   const auto chain = MakeChain(fingerprint, 3, 4096);     // each the child of the one before
//   ASSERT_OK(Store(tier, chain));
//   EXPECT_EQ(ReadableBlocks(tier, chain), 3);

#ifndef HEADSTART_TESTS_PREFIX_STORE_TIER_TIER_BLOCKS_H_
#define HEADSTART_TESTS_PREFIX_STORE_TIER_TIER_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/tier/tier.h"
#include "prefix_store/types.h"

namespace headstart::testing {

struct TestBlock {
  BlockPlace place;
  BlockMeta meta;
  std::vector<std::byte> bytes;
  uint64_t checksum = 0;
};

// Bytes that depend on every bit of `seed`: the high byte of a multiplicative generator.
inline std::vector<std::byte> RandomBytes(size_t size, uint64_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(seed >> 56);
  }
  return bytes;
}

inline TestBlock MakeBlock(const PrefixKey& parent, const Scope& scope, uint32_t depth, int first_token,
                           size_t block_bytes) {
  TestBlock block;
  block.meta = {.parent = parent, .scope = scope, .tokens = {}, .depth = depth, .hits = depth + 1, .priority = -1};
  for (int i = 0; i < 16; ++i) block.meta.tokens.push_back(TokenId{first_token + i});
  block.place = {.key = ChainKey(parent, DigestOf(scope), block.meta.tokens), .slot = SlotIndex{depth}, .depth = depth};
  block.bytes = RandomBytes(block_bytes, block.place.key.low);
  block.checksum = BlockChecksum(block.place.key, block.bytes);
  return block;
}

// Blocks of one sequence, whose tokens begin at `first_token`.
inline std::vector<TestBlock> MakeChain(const Fingerprint& fingerprint, int blocks, size_t block_bytes,
                                        int first_token = 0, const Scope& scope = Scope::Public()) {
  std::vector<TestBlock> chain;
  PrefixKey parent = RootKey(fingerprint);
  for (int i = 0; i < blocks; ++i) {
    chain.push_back(MakeBlock(parent, scope, static_cast<uint32_t>(i), first_token + 16 * i, block_bytes));
    parent = chain.back().place.key;
  }
  return chain;
}

// In one commit.
inline absl::Status Store(Tier& tier, std::span<const TestBlock> blocks) {
  const std::unique_ptr<TierWriter> writer = tier.NewWriter();
  for (const TestBlock& block : blocks) writer->Add(block.place, block.meta, {block.bytes, block.checksum});
  return writer->Commit();
}

inline absl::StatusOr<std::vector<std::byte>> Load(Tier& tier, const BlockPlace& place) {
  std::vector<std::byte> bytes;
  const std::vector<absl::Status> statuses = tier.Read(std::span(&place, 1), [&](size_t, const BlockBytes& read) {
    bytes.assign(read.bytes.begin(), read.bytes.end());
  });
  if (!statuses[0].ok()) return statuses[0];
  return bytes;
}

// The code of reading a block; ABORTED when what is handed out as good is not what was stored.
inline absl::StatusCode Fetch(Tier& tier, const TestBlock& block) {
  const absl::StatusOr<std::vector<std::byte>> bytes = Load(tier, block.place);
  if (!bytes.ok()) return bytes.status().code();
  return *bytes == block.bytes ? absl::StatusCode::kOk : absl::StatusCode::kAborted;
}

// How many blocks from the start of a chain can be read; -1 when a wrong byte was handed out.
inline int ReadableBlocks(Tier& tier, std::span<const TestBlock> chain) {
  int readable = 0;
  for (const TestBlock& block : chain) {
    const absl::StatusCode code = Fetch(tier, block);
    if (code == absl::StatusCode::kAborted) return -1;
    if (code != absl::StatusCode::kOk) break;
    ++readable;
  }
  return readable;
}

inline std::vector<BlockPlace> PlacesOf(std::span<const TestBlock> blocks) {
  std::vector<BlockPlace> places;
  for (const TestBlock& block : blocks) places.push_back(block.place);
  return places;
}

inline int64_t Counter(const Tier& tier, std::string_view wanted) {
  int64_t found = -1;
  tier.VisitCounters([&](std::string_view name, int64_t value) {
    if (name == wanted) found = value;
  });
  return found;
}

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_TIER_TIER_BLOCKS_H_
