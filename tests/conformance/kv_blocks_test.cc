// A block's KV as opaque bytes: read, written and copied, by every backend. What moved must attend as what was
// computed.

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/operation_harness.h"

namespace headstart::testing {
namespace {

constexpr int kLayers = 3;
constexpr int kKvHeads = 2;
constexpr int kHeadDim = 24;
constexpr int kColumns = kKvHeads * kHeadDim;

class KvBlocksTest : public ::testing::TestWithParam<std::tuple<BackendCase, DType, int>> {
 protected:
  KvBlocksTest() : harness_(std::get<0>(GetParam()).create(2)) {}

  Backend& backend() { return harness_.backend(); }
  int block_tokens() const { return std::get<2>(GetParam()); }
  int64_t block_bytes() const { return shape_.bytes_per_block(); }

  void SetUp() override {
    shape_ = {.layers = kLayers,
              .kv_heads = kKvHeads,
              .head_dim = kHeadDim,
              .block_tokens = block_tokens(),
              .dtype = std::get<1>(GetParam())};
    ASSERT_TRUE(backend().AllocateKv(shape_, 8).ok());
    for (uint32_t slot = 0; slot < 8; ++slot) Fill(slot, std::byte{0xff});
  }

  void Fill(uint32_t slot, std::byte value) {
    const std::vector<std::byte> bytes(static_cast<size_t>(block_bytes()), value);
    backend().WriteBlock(SlotIndex{slot}, bytes);
  }

  std::vector<std::byte> Read(uint32_t slot) {
    std::vector<std::byte> bytes(static_cast<size_t>(block_bytes()));
    backend().ReadBlock(SlotIndex{slot}, bytes);
    return bytes;
  }

  // Computes the tokens [first, end) of a sequence of random keys and values into `slot`, in every layer. Other layers
  // hold other numbers.
  void Store(uint32_t slot, int first, int end, uint32_t seed) {
    if (first == end) return;
    for (int layer = 0; layer < kLayers; ++layer) {
      const uint32_t layer_seed = seed * 100 + static_cast<uint32_t>(layer) * 2;
      const Activations k = harness_.Upload(Slice(RandomRows(block_tokens(), kColumns, layer_seed), first, end));
      const Activations v = harness_.Upload(Slice(RandomRows(block_tokens(), kColumns, layer_seed + 1), first, end));
      BeginStep(slot, first, end);
      backend().StoreKv(layer, k, v);
    }
  }

  // What the token at `position` sees in `slot`, in every layer: one row each.
  Rows Attend(uint32_t slot, int position) {
    Rows all = {.cols = kColumns, .values = {}};
    const Activations q = harness_.Upload(RandomRows(1, kColumns, 77));
    for (int layer = 0; layer < kLayers; ++layer) {
      const Activations out = harness_.New(1, kColumns);
      BeginStep(slot, position, position + 1);
      backend().Attention({.layer = layer, .heads = kKvHeads, .scale = 1}, q, out);
      const Rows rows = harness_.Download(out);
      all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
      ++all.rows;
    }
    return all;
  }

 private:
  static Rows Slice(const Rows& rows, int first, int end) {
    Rows slice = {.rows = end - first, .cols = rows.cols, .values = {}};
    slice.values.assign(rows.row(first), rows.row(first) + slice.rows * rows.cols);
    return slice;
  }

  void BeginStep(uint32_t slot, int first, int end) {
    const std::vector<TokenId> tokens(static_cast<size_t>(end));
    const std::vector<SlotIndex> slots = {SlotIndex{slot}};
    BatchBuilder builder;
    builder.Add({.tokens = tokens, .first = first, .count = end - first, .slots = slots});
    harness_.BeginStep(builder);
  }

  OperationHarness harness_;
  KvShape shape_;
};

TEST_P(KvBlocksTest, BytesComeBackAsTheyWereWritten) {
  std::vector<std::byte> bytes(static_cast<size_t>(block_bytes()));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  backend().WriteBlock(SlotIndex{3}, bytes);
  EXPECT_EQ(Read(3), bytes);
  const std::vector<std::byte> untouched(bytes.size(), std::byte{0xff});
  EXPECT_EQ(Read(2), untouched);
  EXPECT_EQ(Read(4), untouched);
}

TEST_P(KvBlocksTest, StoringTouchesItsSlotAlone) {
  Store(3, 0, block_tokens(), 1);
  const std::vector<std::byte> untouched(static_cast<size_t>(block_bytes()), std::byte{0xff});
  for (uint32_t slot : {0, 1, 2, 4, 5, 6, 7}) EXPECT_EQ(Read(slot), untouched) << "slot " << slot;
}

// A block goes down to host memory and comes back elsewhere.
TEST_P(KvBlocksTest, AMovedBlockAttendsAlike) {
  Store(1, 0, block_tokens(), 1);
  const Rows expected = Attend(1, block_tokens() - 1);
  backend().WriteBlock(SlotIndex{6}, Read(1));
  Fill(1, std::byte{0});
  ExpectEqual(Attend(6, block_tokens() - 1), expected);
}

// The bytes of a block are a function of what was computed, not of the steps it took: a copy on disk equals one
// computed again.
TEST_P(KvBlocksTest, BytesDoNotDependOnSteps) {
  Fill(1, std::byte{0});
  Fill(2, std::byte{0});
  Store(1, 0, block_tokens(), 1);
  for (int token = 0; token < block_tokens(); ++token) Store(2, token, token + 1, 1);
  EXPECT_EQ(Read(1), Read(2));
}

TEST_P(KvBlocksTest, CopyTakesTheFirstTokensOfEveryLayerAndHead) {
  for (int tokens = 0; tokens <= block_tokens(); ++tokens) {
    SCOPED_TRACE(::testing::Message() << tokens << " tokens");
    Store(1, 0, block_tokens(), 1);
    Fill(2, std::byte{0xff});
    backend().CopyKv(SlotIndex{1}, SlotIndex{2}, tokens);
    if (tokens > 0) ExpectEqual(Attend(2, tokens - 1), Attend(1, tokens - 1));
    // The rest is computed after the copy, as another text goes on.
    Store(2, tokens, block_tokens(), 2);
    Store(3, 0, block_tokens(), 1);
    Store(3, tokens, block_tokens(), 2);
    ExpectEqual(Attend(2, block_tokens() - 1), Attend(3, block_tokens() - 1));
  }
}

TEST_P(KvBlocksTest, CopyLeavesTheRestOfTheTargetAndAllOfTheSource) {
  for (int tokens : {0, 1, block_tokens() / 2 + 1, block_tokens()}) {
    SCOPED_TRACE(::testing::Message() << tokens << " tokens");
    Store(1, 0, block_tokens(), 1);
    const std::vector<std::byte> source = Read(1);
    Store(2, 0, block_tokens(), 2);
    backend().CopyKv(SlotIndex{1}, SlotIndex{2}, tokens);
    EXPECT_EQ(Read(1), source);
    Store(3, 0, block_tokens(), 2);
    Store(3, 0, tokens, 1);
    ExpectEqual(Attend(2, block_tokens() - 1), Attend(3, block_tokens() - 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, KvBlocksTest,
                         ::testing::Combine(::testing::ValuesIn(AllBackends()),
                                            ::testing::Values(DType::kBF16, DType::kF32), ::testing::Values(8, 16, 32)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + NameOf(std::get<1>(test.param)) + "_block" +
                                  std::to_string(std::get<2>(test.param));
                         });

}  // namespace
}  // namespace headstart::testing
