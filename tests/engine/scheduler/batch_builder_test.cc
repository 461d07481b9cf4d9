#include "engine/scheduler/batch_builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace headstart {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<TokenId> Counted(int from, int count) {
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(TokenId{from + i});
  return tokens;
}

// The example of engine/backend/batch.h.
TEST(BatchBuilderTest, LaysOutADecodeAndAPrefill) {
  const std::vector<TokenId> a = Counted(100, 40);
  const std::vector<TokenId> b = Counted(200, 35);
  const std::vector<SlotIndex> a_slots = {SlotIndex{7}, SlotIndex{2}, SlotIndex{9}};
  const std::vector<SlotIndex> b_slots = {SlotIndex{4}, SlotIndex{5}, SlotIndex{8}, SlotIndex{1}};
  BatchBuilder builder(16);
  builder.Add({.tokens = a, .first = 39, .count = 1, .slots = a_slots, .wants_logits = true});
  builder.Add({.tokens = b, .first = 32, .count = 3, .slots = b_slots, .wants_logits = true});
  const RaggedBatch batch = builder.batch();
  EXPECT_THAT(batch.tokens, ElementsAre(TokenId{139}, TokenId{232}, TokenId{233}, TokenId{234}));
  EXPECT_THAT(batch.positions, ElementsAre(39, 32, 33, 34));
  EXPECT_THAT(batch.sequence_starts, ElementsAre(0, 1, 4));
  EXPECT_THAT(batch.context_lengths, ElementsAre(40, 35));
  EXPECT_THAT(batch.block_tables,
              ElementsAre(SlotIndex{7}, SlotIndex{2}, SlotIndex{9}, SlotIndex{4}, SlotIndex{5}, SlotIndex{8}));
  EXPECT_THAT(batch.block_table_starts, ElementsAre(0, 3, 6));
  EXPECT_THAT(batch.logit_rows, ElementsAre(0, 3));
}

TEST(BatchBuilderTest, AChunkThatDoesNotEndItsPromptWantsNoLogits) {
  const std::vector<TokenId> tokens = Counted(0, 32);
  const std::vector<SlotIndex> slots = {SlotIndex{0}, SlotIndex{1}};
  BatchBuilder builder(16);
  builder.Add({.tokens = tokens, .first = 0, .count = 16, .slots = slots});
  EXPECT_THAT(builder.batch().logit_rows, IsEmpty());
  EXPECT_THAT(builder.batch().block_tables, ElementsAre(SlotIndex{0}));
}

TEST(BatchBuilderTest, ClearForgetsTheLastStep) {
  const std::vector<TokenId> tokens = Counted(0, 4);
  const std::vector<SlotIndex> slots = {SlotIndex{0}};
  BatchBuilder builder(16);
  builder.Add({.tokens = tokens, .first = 0, .count = 4, .slots = slots, .wants_logits = true});
  builder.Clear();
  EXPECT_TRUE(builder.empty());
  EXPECT_THAT(builder.batch().sequence_starts, ElementsAre(0));
  EXPECT_EQ(builder.batch().num_sequences(), 0);
}

}  // namespace
}  // namespace headstart
