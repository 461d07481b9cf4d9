// What is found in the cache, at the level of whole requests: every answer equals the one given without a cache, and
// the account says to the token what was reused.

#include <algorithm>

#include "tests/engine/scheduler/scheduler_fixture.h"

namespace headstart::testing {
namespace {

class ReuseTest : public SchedulerTest {};

TEST_F(ReuseTest, M1_TwoPromptsShareABeginningWhileBothRun) {
  const auto shared = Tokens(48, 1);
  const Asked first = Ask(Join(shared, Tokens(7, 2)), 40);
  RunUntilStarted(first);
  const Asked second = Ask(Join(shared, Tokens(5, 3)), 40);
  RunUntilStarted(second);
  EXPECT_FALSE(first->finished());
  EXPECT_EQ(first->split().cached_tokens(), 0);
  EXPECT_EQ(second->split().cached_tokens(), 48);
  // 4 blocks of the first, and of the second only the last: three have two holders.
  EXPECT_EQ(store().stats().leased_blocks, 5);
  Run();
  ExpectRight(first);
  ExpectRight(second);
  ExpectSoundStore();
}

TEST_F(ReuseTest, M2_AtLeastOnePromptTokenIsComputed) {
  EXPECT_EQ(Complete(Tokens(48, 1))->usage().cached_tokens(), 0);
  const Asked again = Complete(Tokens(48, 1));
  EXPECT_EQ(again->usage().cached_tokens(), 47);
  EXPECT_EQ(again->usage().computed_prompt_tokens, 1);
  EXPECT_EQ(again->usage().miss_reason, MissReason::kNone);
}

TEST_F(ReuseTest, M3_OneTokenPrompt) {
  const Asked first = Complete(Tokens(1, 1));
  const Asked second = Complete(Tokens(1, 1));
  EXPECT_EQ(first->usage().cached_tokens(), 0);
  EXPECT_EQ(second->usage().cached_tokens(), 0);
  EXPECT_EQ(first->tokens(), second->tokens());
}

TEST_F(ReuseTest, M4_ABusyPartialBlockIsCopiedNotStolen) {
  Open({.block_tokens = 8});
  const auto first_prompt = Tokens(20, 1);
  const Asked first = Ask(first_prompt, 30);
  RunUntilStarted(first);
  const Asked second = Ask(Join(first_prompt, Tokens(1, 2)), 30);
  RunUntilStarted(second);
  EXPECT_FALSE(first->finished());
  EXPECT_EQ(second->split().cached_tokens(), 20);
  Run();
  ExpectRight(first);
  ExpectRight(second);
}

TEST_F(ReuseTest, M5_DivergingInsideABlock) {
  Open({.block_tokens = 8});
  const auto prompt = Tokens(20, 1);
  Complete(prompt);
  auto other = std::vector<TokenId>(prompt.begin(), prompt.begin() + 19);
  other.push_back(TokenId{ToIndex(prompt[19]) == 1 ? 2 : 1});
  EXPECT_EQ(Complete(other)->usage().cached_tokens(), 19);
}

TEST_F(ReuseTest, M6_ThePromptsOwnBeginning) {
  const auto prompt = Tokens(87, 1);
  Complete(prompt);
  EXPECT_EQ(Complete({prompt.begin(), prompt.begin() + 35})->usage().cached_tokens(), 34);
}

TEST_F(ReuseTest, M9_LessThanABlockIsReusedAndSaid) {
  const auto shared = Tokens(15, 1);
  Complete(Join(shared, Tokens(4, 2)));
  EXPECT_EQ(Complete(Join(shared, Tokens(4, 3)))->usage().cached_tokens(), 15);
}

// Every shared length with every suffix length; the last token of a suffix differs from the first prompt's.
TEST_F(ReuseTest, M10_HitsAreExactToTheToken) {
  for (const int block : {8, 16, 32}) {
    for (int64_t shared = 1; shared <= 64; ++shared) {
      for (int64_t suffix = 1; suffix <= 64; suffix += 3) {
        Open({.block_tokens = block, .blocks = 64});
        const auto beginning = Tokens(shared, 1);
        Complete(Join(Join(beginning, {TokenId{1}}), Tokens(10, 2)), 1);
        const Asked second = Complete(Join(Join(beginning, {TokenId{2}}), Tokens(suffix - 1, 3)), 1);
        ASSERT_EQ(second->usage().cached_tokens(), std::min(shared, shared + suffix - 1))
            << "block " << block << " shared " << shared << " suffix " << suffix;
      }
    }
  }
}

TEST_F(ReuseTest, M11_TheNextTurnFindsPromptAndAnswer) {
  const auto prompt = Tokens(100, 1);
  const Asked turn = Complete(prompt, 50);
  const auto conversation = Join(prompt, turn->tokens());
  const Asked next = Complete(Join(conversation, Tokens(50, 2)), 8);
  // The last token of an answer is never fed back, so its KV does not exist.
  EXPECT_EQ(next->usage().cached_tokens(), 149);
}

TEST_F(ReuseTest, M12_CollidingHashesChangeNoAnswer) {
  for (const int bits : {1, 8}) {
    Open({.block_tokens = 8, .hash_bits = bits});
    for (uint64_t seed = 0; seed < 40; ++seed) Complete(Join(Tokens(8 * (seed % 3), 1), Tokens(30, seed)));
    ExpectSoundStore();
  }
}

TEST_F(ReuseTest, P1_AShortChatTakesNothingFromALongOne) {
  const auto system = Tokens(64, 1);
  const auto long_prompt = Join(system, Tokens(1000, 2));
  const Asked long_chat = Complete(long_prompt, 20);
  Complete(Join(system, Tokens(20, 3)), 20);
  const auto next = Join(Join(long_prompt, long_chat->tokens()), Tokens(16, 4));
  EXPECT_EQ(Complete(next)->usage().cached_tokens(), 1064 + 19);
}

TEST_F(ReuseTest, P2_TwoBranchesAlternate) {
  const auto trunk = Tokens(512, 1);
  const auto left = Join(trunk, Tokens(250, 2));
  const auto right = Join(trunk, Tokens(250, 3));
  Complete(left);
  Complete(right);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(Complete(left)->usage().cached_tokens(), 761);
    EXPECT_EQ(Complete(right)->usage().cached_tokens(), 761);
  }
}

TEST_F(ReuseTest, P3_FourAtOnceOnOneWarmPrefix) {
  const auto prefix = Tokens(2048, 1);
  Complete(prefix, 1);
  const int64_t before = runner().computed_tokens();
  std::vector<Asked> asked;
  for (uint64_t i = 0; i < 4; ++i) asked.push_back(Ask(Join(prefix, Tokens(32, 10 + i)), 1));
  Run();
  for (const Asked& each : asked) ExpectRight(each);
  EXPECT_EQ(runner().computed_tokens() - before, 4 * 32);
}

TEST_F(ReuseTest, ReadingOffComputesAllAndSaysWhy) {
  Complete(Tokens(40, 1));
  GenerationRequest request = Request(Tokens(40, 1));
  request.read_cache = false;
  const Asked asked = Complete(request);
  EXPECT_EQ(asked->usage().cached_tokens(), 0);
  EXPECT_EQ(asked->usage().miss_reason, MissReason::kCachingOff);
}

TEST_F(ReuseTest, E5_WritingOffLeavesNothingBehind) {
  Complete(Tokens(40, 1));
  const int64_t nodes = store().stats().nodes;
  GenerationRequest request = Request(Tokens(200, 2), 40);
  request.write_cache = false;
  const Asked asked = Complete(request);
  EXPECT_EQ(store().stats().nodes, nodes);
  EXPECT_EQ(asked->usage().cache_write_tokens, 0);
  EXPECT_EQ(Complete(Tokens(200, 2))->usage().cached_tokens(), 0);
}

TEST_F(ReuseTest, WrittenTokensArePromptAndAnswerOnce) {
  // 100 prompt tokens and 19 of the 20 answer tokens have KV.
  EXPECT_EQ(Complete(Tokens(100, 1), 20)->usage().cache_write_tokens, 119);
  EXPECT_EQ(Complete(Tokens(100, 1), 20)->usage().cache_write_tokens, 0);
}

// Sampled answers depend on nothing but seed and position, so a warm one equals a cold one.
TEST_F(ReuseTest, SampledAnswersAreTheSameWarmAndCold) {
  GenerationRequest request = Request(Tokens(60, 1), 40);
  request.sampling = {.temperature = 0.9f, .top_k = 40, .top_p = 0.95f, .repetition_penalty = 1.2f, .seed = 7};
  for (int round = 0; round < 3; ++round) Complete(request);
}

TEST_F(ReuseTest, T1_OneTenantsPromptIsNoHitForAnother) {
  GenerationRequest request = Request(Tokens(64, 1));
  request.scope = Scope::Tenant("a");
  EXPECT_EQ(Complete(request)->usage().cached_tokens(), 0);
  EXPECT_EQ(Complete(request)->usage().cached_tokens(), 63);
  request.scope = Scope::Tenant("b");
  EXPECT_EQ(Complete(request)->usage().cached_tokens(), 0);
}

TEST_F(ReuseTest, T2_APublicPrefixIsComputedOnceForAllTenants) {
  const auto shared = Tokens(512, 1);
  Complete(shared, 1);
  const int64_t before = runner().computed_tokens();
  constexpr int kTenants = 256;
  std::vector<Asked> asked;
  for (uint64_t i = 0; i < kTenants; ++i) {
    GenerationRequest request = Request(Join(shared, Tokens(8, 100 + i)), 1);
    request.scope = Scope::Tenant(std::to_string(i));
    asked.push_back(Ask(request));
  }
  Run();
  for (const Asked& each : asked) ExpectRight(each);
  EXPECT_EQ(runner().computed_tokens() - before, kTenants * 8);
  ExpectSoundStore();
}

TEST_F(ReuseTest, T3_NamesThatConcatenateAlikeAreTwoScopes) {
  GenerationRequest request = Request(Tokens(64, 1));
  request.scope = Scope::Tenant("ab", "c");
  Complete(request);
  request.scope = Scope::Tenant("a", "bc");
  EXPECT_EQ(Complete(request)->usage().cached_tokens(), 0);
}

}  // namespace
}  // namespace headstart::testing
