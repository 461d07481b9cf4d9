#include "engine/text/gguf_tokenizer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/text/golden.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

nlohmann::json Stories() { return nlohmann::json::parse(ReadFile("tests/golden/text/stories260k.json")); }

GgufTokenizerMetadata StoriesMetadata() {
  const nlohmann::json fields = Stories();
  GgufTokenizerMetadata metadata;
  metadata.model = fields["model"];
  metadata.tokens = fields["tokens"];
  metadata.scores = fields["scores"].get<std::vector<float>>();
  metadata.token_types = fields["token_type"].get<std::vector<int32_t>>();
  metadata.bos_token_id = fields["bos_token_id"];
  metadata.eos_token_id = fields["eos_token_id"];
  metadata.unknown_token_id = fields["unknown_token_id"];
  metadata.add_bos_token = fields["add_bos_token"].get<bool>();
  metadata.add_space_prefix = fields["add_space_prefix"].get<bool>();
  return metadata;
}

std::unique_ptr<const Tokenizer> FromGguf(const GgufTokenizerMetadata& metadata) {
  auto spec = TokenizerSpecFromGguf(metadata);
  EXPECT_OK(spec);
  auto tokenizer = Tokenizer::Create(*spec);
  EXPECT_OK(tokenizer);
  return *std::move(tokenizer);
}

// The tokens of a reduced tokenizer.json as GGUF has them.
GgufTokenizerMetadata ByteLevelMetadata(const std::string& pre) {
  const auto document = nlohmann::json::parse(ReadGoldenCase("qwen3").tokenizer_json);
  GgufTokenizerMetadata metadata{.model = "gpt2", .pre = pre};
  const auto place = [&](const std::string& text, size_t id, GgufTokenType type) {
    metadata.tokens.resize(std::max(metadata.tokens.size(), id + 1));
    metadata.token_types.resize(metadata.tokens.size(), 1);
    metadata.tokens[id] = text;
    metadata.token_types[id] = static_cast<int32_t>(type);
  };
  for (const auto& [text, id] : document["model"]["vocab"].items()) place(text, id, GgufTokenType::kNormal);
  for (const auto& token : document["added_tokens"]) {
    place(token["content"], token["id"], token["special"] ? GgufTokenType::kControl : GgufTokenType::kUserDefined);
  }
  for (const auto& merge : document["model"]["merges"]) metadata.merges.push_back(merge);
  return metadata;
}

TEST(GgufTokenizer, EncodesStoriesAsLlamaCpp) {
  const auto tokenizer = FromGguf(StoriesMetadata());
  const nlohmann::json stories = Stories();
  ASSERT_EQ(stories["cases"].size(), 4u);
  for (const auto& test : stories["cases"]) {
    const std::string prompt = test["prompt"];
    const auto ids = tokenizer->Encode(prompt, {.add_special_tokens = true});
    EXPECT_THAT(ids, ElementsAreArray(ToIds(test["ids"]))) << prompt;
    EXPECT_EQ(tokenizer->Decode(ids, false), prompt);
  }
}

TEST(GgufTokenizer, AContinuationKeepsItsFirstSpace) {
  const auto tokenizer = FromGguf(StoriesMetadata());
  const std::vector<TokenId> once = tokenizer->Encode("Once", {});
  Detokenizer text(*tokenizer);
  Detokenizer continuation(*tokenizer, /*with_special=*/false, StreamStart::kContinuation);
  std::string as_text, as_continuation;
  for (const TokenId id : once) {
    as_text += text.Push(id);
    as_continuation += continuation.Push(id);
  }
  EXPECT_EQ(as_text, "Once");
  EXPECT_EQ(as_continuation, " Once");
}

// The same vocabulary, once from tokenizer.json with that family's rules and once from GGUF with its name.
class GgufFamily : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(GgufFamily, EncodesAsTokenizerJson) {
  const auto [golden, pre] = GetParam();
  const auto tokenizer = FromGguf(ByteLevelMetadata(pre));
  const Goldens goldens = ReadGoldens(ReadGoldenCase(golden).goldens_path);
  ASSERT_OK_AND_ASSIGN(const auto from_json, MakeTokenizer(ReadGoldenCase(golden).tokenizer_json));
  const std::vector<std::string> corpus = ReadCorpus();
  for (size_t i = 0; i < corpus.size(); i += goldens.stride) {
    const EncodeOptions options{.parse_special = true};
    EXPECT_EQ(tokenizer->Encode(corpus[i], options), from_json->Encode(corpus[i], options)) << corpus[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, GgufFamily,
                         ::testing::Values(std::pair("qwen3", "qwen2"), std::pair("llama3", "llama-bpe"),
                                           std::pair("smollm2", "smollm"), std::pair("gpt2", "gpt-2")),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(GgufTokenizer, RefusesListsThatDoNotFit) {
  GgufTokenizerMetadata metadata = StoriesMetadata();
  metadata.scores.pop_back();
  EXPECT_THAT(TokenizerSpecFromGguf(metadata),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tokenizer.ggml.scores has 511 entries")));
  metadata = StoriesMetadata();
  metadata.bos_token_id = 512;
  EXPECT_THAT(TokenizerSpecFromGguf(metadata),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bos_token_id is 512")));
  metadata = ByteLevelMetadata("qwen2");
  metadata.merges[3] = "nospace";
  EXPECT_THAT(TokenizerSpecFromGguf(metadata), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("merges[3]")));
  EXPECT_THAT(TokenizerSpecFromGguf({.model = "llama"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tokens")));
}

TEST(GgufTokenizer, RefusesUnknownFamilies) {
  EXPECT_THAT(TokenizerSpecFromGguf(ByteLevelMetadata("new-thing")),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("tokenizer.ggml.pre is 'new-thing'")));
  EXPECT_THAT(TokenizerSpecFromGguf({.model = "t5", .tokens = {"a"}}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("tokenizer.ggml.model is 't5'")));
}

}  // namespace
}  // namespace headstart::testing
