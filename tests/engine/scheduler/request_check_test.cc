#include "engine/scheduler/request_check.h"

#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr RequestLimits kLimits{.vocab_size = 100, .max_context_tokens = 64, .block_tokens = 16, .pool_blocks = 3};

GenerationRequest Prompt(int64_t tokens, int64_t answer = 1) {
  GenerationRequest request;
  request.prompt.assign(static_cast<size_t>(tokens), TokenId{5});
  request.max_tokens = answer;
  return request;
}

TEST(RequestCheckTest, TakesWhatFits) { EXPECT_OK(CheckRequest(Prompt(48), kLimits)); }

TEST(RequestCheckTest, RefusesAnEmptyPrompt) {
  EXPECT_THAT(CheckRequest(Prompt(0), kLimits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("prompt is empty")));
}

TEST(RequestCheckTest, RefusesTokensOutsideTheVocabulary) {
  for (const int bad : {-1, 100, 1 << 30}) {
    GenerationRequest request = Prompt(4);
    request.prompt[2] = TokenId{bad};
    EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("prompt[2]")));
  }
  GenerationRequest request = Prompt(4);
  request.stop_tokens = {TokenId{1}, TokenId{100}};
  EXPECT_THAT(CheckRequest(request, kLimits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stop_tokens[1]")));
}

TEST(RequestCheckTest, RefusesAPromptThatFillsTheContext) {
  EXPECT_THAT(CheckRequest(Prompt(64), kLimits), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("64")));
}

TEST(RequestCheckTest, RefusesWhatThePoolCannotHoldWithTheNumbers) {
  EXPECT_OK(CheckRequest(Prompt(47, 2), kLimits));
  EXPECT_THAT(CheckRequest(Prompt(47, 3), kLimits),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("4 blocks"), HasSubstr("has 3 blocks"))));
}

TEST(RequestCheckTest, RefusesNegativeLengths) {
  EXPECT_THAT(CheckRequest(Prompt(4, -1), kLimits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_tokens")));
}

TEST(RequestCheckTest, RefusesBadSampling) {
  GenerationRequest request = Prompt(4);
  request.sampling.top_p = 2;
  EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("top_p")));
}

TEST(RequestCheckTest, StopListsAreLimited) {
  GenerationRequest request = Prompt(4);
  request.stop = {"a", ""};
  EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stop[1]")));
  request.stop = {std::string(kMaxStopBytes + 1, 'x')};
  EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stop[0]")));
  request.stop.assign(kMaxStopStrings + 1, "x");
  EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65 strings")));
  request.stop.clear();
  request.stop_tokens.assign(kMaxStopTokens + 1, TokenId{1});
  EXPECT_THAT(CheckRequest(request, kLimits), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1025 tokens")));
}

TEST(RequestCheckTest, LengthIsClampedToTheContext) {
  EXPECT_EQ(LongestLength(Prompt(10, 5), kLimits), 15);
  EXPECT_EQ(LongestLength(Prompt(10, 1000), kLimits), 64);
  EXPECT_EQ(LongestLength(Prompt(10, 0), kLimits), 64);
  EXPECT_EQ(LongestLength(Prompt(10, INT64_MAX), kLimits), 64);
}

}  // namespace
}  // namespace headstart
