#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/text/golden.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;

// What each token adds, and last what the end adds.
std::vector<std::string> Stream(const std::string& golden, const std::vector<std::string>& tokens) {
  const auto tokenizer = MakeTokenizer(ReadGoldenCase(golden).tokenizer_json);
  EXPECT_OK(tokenizer);
  const std::vector<std::string>& vocabulary = (*tokenizer)->spec().vocabulary;
  Detokenizer stream(**tokenizer);
  std::vector<std::string> pieces;
  for (const std::string& token : tokens) {
    const auto it = std::find(vocabulary.begin(), vocabulary.end(), token);
    EXPECT_NE(it, vocabulary.end()) << token;
    pieces.push_back(stream.Push(TokenId{static_cast<int32_t>(it - vocabulary.begin())}));
  }
  pieces.push_back(stream.Finish());
  return pieces;
}

// U+1F600 is F0 9F 98 80: "ðŁĺĢ" in the byte alphabet.
TEST(Detokenizer, X3ACodePointComesWithItsLastByte) {
  EXPECT_THAT(Stream("gpt2", {"\u00f0", "\u0141", "\u013a", "\u0122", "a"}),
              ElementsAre("", "", "", "\U0001F600", "a", ""));
  EXPECT_THAT(Stream("llama2", {"<0xF0>", "<0x9F>", "<0x98>", "<0x80>"}), ElementsAre("", "", "", "\U0001F600", ""));
}

TEST(Detokenizer, X3ACutOffCodePointIsReplaced) {
  EXPECT_THAT(Stream("gpt2", {"\u00f0", "\u0141", "a"}), ElementsAre("", "", "\uFFFDa", ""));
  EXPECT_THAT(Stream("gpt2", {"\u00f0", "\u0141"}), ElementsAre("", "", "\uFFFD"));
  EXPECT_THAT(Stream("llama2", {"<0xF0>", "<0x9F>", "a"}),
              ElementsAre("", "", "\uFFFD\uFFFDa", ""));  // one for each token
}

// The reference would take back the "é" that the stream has shown.
TEST(Detokenizer, WholeCodePointsOfADamagedRunStay) {
  EXPECT_THAT(Stream("llama2", {"<0xC3>", "<0xA9>", "<0xFF>", "a"}), ElementsAre("", "\u00e9", "\uFFFD", "a", ""));
}

TEST(Detokenizer, OneLeadingSpaceIsNotText) {
  EXPECT_THAT(Stream("llama2", {"\u2581a", "\u2581a"}), ElementsAre("a", " a", ""));
  EXPECT_THAT(Stream("llama2", {"<s>", "\u2581a"}), ElementsAre("", "a", ""));
  EXPECT_THAT(Stream("llama2", {"\u2581", "\u2581a"}), ElementsAre("", " a", ""));
  EXPECT_THAT(Stream("metaspace_legacy", {"\u2581\u2581", "\u2581a"}), ElementsAre("", " a", ""));
}

}  // namespace
}  // namespace headstart::testing
