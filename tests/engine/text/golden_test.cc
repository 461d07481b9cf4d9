// Ids and texts equal those of the Hugging Face library: tests/golden/text/README.md.

#include "tests/engine/text/golden.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

std::string Show(const std::vector<TokenId>& ids) {
  std::string shown;
  for (const TokenId id : ids) shown += fmt::format("{} ", ToIndex(id));
  return shown;
}

class Comparison {
 public:
  Comparison(const Tokenizer& tokenizer, const Goldens& goldens)
      : tokenizer_(tokenizer), goldens_(goldens), corpus_(ReadCorpus()) {}

  void Ids() const {
    for (size_t i = 0; i < goldens_.ids.size(); ++i) {
      const std::string& text = corpus_[i * goldens_.stride];
      const auto ids = tokenizer_.Encode(text, {.add_special_tokens = true, .parse_special = true});
      EXPECT_EQ(Show(ids), Show(goldens_.ids[i])) << "string " << i * goldens_.stride << ": " << text;
    }
  }

  void PlainIds() const {
    for (size_t i = 0; i < goldens_.ids.size(); ++i) {
      const std::string& text = corpus_[i * goldens_.stride];
      const auto special = goldens_.plain.find(i * goldens_.stride);
      const auto expected = special != goldens_.plain.end() ? special->second : WithoutEnds(goldens_.ids[i]);
      EXPECT_EQ(Show(tokenizer_.Encode(text, {})), Show(expected)) << "string " << i * goldens_.stride << ": " << text;
    }
  }

  void Texts() const {
    for (size_t i = 0; i < goldens_.ids.size(); ++i) {
      const auto other = goldens_.decoded.find(i * goldens_.stride);
      const std::string expected =
          other != goldens_.decoded.end() ? other->second : RepairUtf8(corpus_[i * goldens_.stride]);
      EXPECT_EQ(tokenizer_.Decode(goldens_.ids[i], false), expected) << "string " << i * goldens_.stride;
    }
  }

  void Sequences() const {
    for (const Goldens::Sequence& sequence : goldens_.sequences) {
      EXPECT_EQ(tokenizer_.Decode(sequence.ids, false), sequence.text) << Show(sequence.ids);
      EXPECT_EQ(tokenizer_.Decode(sequence.ids, true), sequence.with_special) << Show(sequence.ids);
    }
  }

  void All() const {
    Ids();
    PlainIds();
    Texts();
    Sequences();
  }

 private:
  std::vector<TokenId> WithoutEnds(const std::vector<TokenId>& ids) const {
    const TokenizerSpec& spec = tokenizer_.spec();
    return {ids.begin() + spec.prefix_tokens.size(), ids.end() - spec.suffix_tokens.size()};
  }

  const Tokenizer& tokenizer_;
  const Goldens& goldens_;
  std::vector<std::string> corpus_;
};

class GoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const GoldenCase golden = ReadGoldenCase(GetParam());
    goldens_ = ReadGoldens(golden.goldens_path);
    ASSERT_OK_AND_ASSIGN(tokenizer_, MakeTokenizer(golden.tokenizer_json));
    ASSERT_GE(goldens_.ids.size(), 2100 / goldens_.stride);
  }

  Goldens goldens_;
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_P(GoldenTest, EncodesAsTheReference) { Comparison(*tokenizer_, goldens_).Ids(); }

TEST_P(GoldenTest, EncodesSpecialTokensAsTextAsTheReference) { Comparison(*tokenizer_, goldens_).PlainIds(); }

TEST_P(GoldenTest, DecodesAsTheReference) { Comparison(*tokenizer_, goldens_).Texts(); }

TEST_P(GoldenTest, DecodesAnySequenceAsTheReference) { Comparison(*tokenizer_, goldens_).Sequences(); }

TEST_P(GoldenTest, StreamsWholeCodePointsThatConcatenateToTheText) {
  for (const Goldens::Sequence& sequence : goldens_.sequences) {
    Detokenizer stream(*tokenizer_, /*with_special=*/true);
    std::string text;
    for (const TokenId id : sequence.ids) {
      const std::string piece = stream.Push(id);
      EXPECT_TRUE(IsValidUtf8(piece));
      text += piece;
    }
    EXPECT_EQ(text + stream.Finish(), sequence.with_special);
  }
}

TEST_P(GoldenTest, LiteralTextNeverBecomesAControlToken) {
  const std::vector<std::string> corpus = ReadCorpus();
  for (size_t i = 0; i < corpus.size(); i += goldens_.stride) {
    const TextRange whole[] = {{0, corpus[i].size()}};
    for (const TokenId id : tokenizer_->Encode(corpus[i], {.parse_special = true, .literal = whole})) {
      EXPECT_TRUE(!tokenizer_->IsSpecial(id) || id == tokenizer_->spec().unknown) << corpus[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTest, ::testing::ValuesIn(GoldenNames()),
                         [](const auto& test) { return test.param; });

// The whole tokenizers, several megabytes each, are not in the repository.
TEST(WholeTokenizers, EqualTheReference) {
  const char* folder = std::getenv("HEADSTART_TOKENIZER_DIR");
  if (folder == nullptr)
    GTEST_SKIP() << "HEADSTART_TOKENIZER_DIR is not set; tests/golden/text/README.md says how to fill it";
  size_t strings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Goldens goldens = ReadGoldens(entry.path() / "goldens.json");
    ASSERT_OK_AND_ASSIGN(auto tokenizer, MakeTokenizer(ReadFile(entry.path() / "tokenizer.json")));
    Comparison(*tokenizer, goldens).All();
    strings += goldens.ids.size();
  }
  EXPECT_GT(strings, 0u);
  RecordProperty("strings", static_cast<int>(strings));
}

// The demo's own model: prompts as its chat template renders them, with the ids it was trained on.
TEST(DemoTokenizer, EncodesItsPrompts) {
  const std::string folder = "gateway/demo/model/";
  if (!std::filesystem::exists(folder + "prompts.jsonl")) GTEST_SKIP() << "needs " << folder << "prompts.jsonl";
  ASSERT_OK_AND_ASSIGN(auto tokenizer,
                       MakeTokenizer(ReadFile(folder + "tokenizer.json"), ReadFile(folder + "tokenizer_config.json")));
  const std::string lines = ReadFile(folder + "prompts.jsonl");
  int prompts = 0;
  for (size_t begin = 0, end; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto prompt = nlohmann::json::parse(lines.substr(begin, end - begin));
    const auto ids = tokenizer->Encode(prompt["prompt"].get<std::string>(), {.parse_special = true});
    EXPECT_EQ(Show(ids), Show(ToIds(prompt["prompt_ids"])));
    ++prompts;
  }
  EXPECT_GT(prompts, 0);
}

}  // namespace
}  // namespace headstart::testing
