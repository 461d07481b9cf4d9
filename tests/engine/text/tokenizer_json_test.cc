#include <string>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/text/golden.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json Minimal() {
  return json::parse(
      R"({"added_tokens": [{"id": 3, "content": "<s>", "special": true}, {"id": 4, "content": "</s>", "special": true}],
    "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "post_processor": null,
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

absl::StatusOr<TokenizerSpec> Parse(const json& document, const std::string& config = "") {
  return ParseTokenizerJson(document.dump(), config, "m/tokenizer.json");
}

// The document with one value changed.
json With(const char* pointer, const json& value) {
  json document = Minimal();
  document[json::json_pointer(pointer)] = value;
  return document;
}

TEST(TokenizerJson, ReadsVocabularyMergesAndAddedTokens) {
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec spec, Parse(Minimal()));
  EXPECT_EQ(spec.kind, TokenizerKind::kByteLevelBpe);
  EXPECT_THAT(spec.vocabulary, ElementsAre("a", "b", "ab", "<s>", "</s>"));
  ASSERT_EQ(spec.merges.size(), 1u);
  EXPECT_EQ(spec.merges[0].right, "b");
  ASSERT_EQ(spec.added_tokens.size(), 2u);
  EXPECT_EQ(spec.added_tokens[1].id, TokenId{4});
}

TEST(TokenizerJson, AddedTokensFollowTheVocabularyWhateverIdTheyState) {
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec spec, Parse(With("/added_tokens/0/id", 77)));
  EXPECT_EQ(spec.added_tokens[0].id, TokenId{3});
}

TEST(TokenizerJson, ConfigNamesTheEnds) {
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec spec,
                       Parse(Minimal(), R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})"));
  EXPECT_EQ(spec.bos, TokenId{3});
  EXPECT_EQ(spec.eos, TokenId{4});
  EXPECT_THAT(spec.prefix_tokens, IsEmpty());
}

TEST(TokenizerJson, FlagsOfTheConfigCountForTheClassesThatObeyThem) {
  const std::string flags = R"("bos_token": "<s>", "eos_token": "</s>", "add_bos_token": true, "add_eos_token": true})";
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec llama,
                       Parse(Minimal(), R"({"tokenizer_class": "LlamaTokenizerFast", )" + flags));
  EXPECT_THAT(llama.prefix_tokens, ElementsAre(TokenId{3}));
  EXPECT_THAT(llama.suffix_tokens, ElementsAre(TokenId{4}));
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec qwen, Parse(Minimal(), R"({"tokenizer_class": "Qwen2Tokenizer", )" + flags));
  EXPECT_THAT(qwen.prefix_tokens, IsEmpty());
}

TEST(TokenizerJson, NamesTheFieldThatIsWrong) {
  struct Case {
    const char* pointer;
    json value;
    const char* message;
  };
  const Case cases[] = {
      {"/model/vocab/a", "x", "model.vocab.a is string, expected a whole number"},
      {"/model/vocab/a", -1, "model.vocab.a is number, expected a whole number"},
      {"/model/vocab/a", 2000000000, "model.vocab.a is 2000000000, more than the greatest id supported"},
      {"/model/vocab", json::array(), "model.vocab is array, expected an object"},
      {"/model/merges/0", "ab", "model.merges[0] is not a pair of tokens"},
      {"/model/merges/0", json::array({"a"}), "model.merges[0] is not a pair of tokens"},
      {"/model/unk_token", "zz", "model.unk_token 'zz' is not in the vocabulary"},
      {"/added_tokens/1/content", nullptr, "added_tokens[1].content is missing, expected a string"},
      {"/added_tokens/1/special", 1, "added_tokens[1].special is number, expected true or false"},
      {"/pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"String", "x"}}}, {"behavior", "Odd"}},
       "pre_tokenizer.behavior is 'Odd'"},
      {"/pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "odd"}}, "pre_tokenizer.prepend_scheme is 'odd'"},
  };
  for (const Case& test : cases) {
    EXPECT_THAT(
        Parse(With(test.pointer, test.value)),
        StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("m/tokenizer.json: "), HasSubstr(test.message))));
  }
}

TEST(TokenizerJson, SaysWhatIsNotSupported) {
  const std::pair<const char*, json> cases[] = {
      {"/model/type", "Unigram"},
      {"/model/dropout", 0.1},
      {"/model/continuing_subword_prefix", "##"},
      {"/normalizer", {{"type", "BertNormalizer"}}},
      {"/pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}}},
      {"/post_processor", {{"type", "Odd"}}},
      {"/decoder", {{"type", "WordPiece"}}},
  };
  for (const auto& [pointer, value] : cases) {
    EXPECT_THAT(Parse(With(pointer, value)),
                StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(std::string(pointer + 1).substr(0, 5))));
  }
}

TEST(TokenizerJson, RefusesWhatIsNoJsonObject) {
  for (const char* text : {"", "[]", "{", "\xFF", "null"}) {
    EXPECT_THAT(ParseTokenizerJson(text, "", "x"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a JSON object")));
  }
}

TEST(TokenizerJson, RefusesSequencesWithinSequencesWithoutEnd) {
  json nested = {{"type", "NFC"}};
  for (int i = 0; i < 100; ++i) nested = {{"type", "Sequence"}, {"normalizers", json::array({nested})}};
  EXPECT_THAT(Parse(With("/normalizer", nested)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nested deeper")));
}

TEST(TokenizerJson, CreateRefusesMergesOfUnknownTokens) {
  ASSERT_OK_AND_ASSIGN(const TokenizerSpec spec, Parse(With("/model/merges/0", "b a")));
  EXPECT_THAT(Tokenizer::Create(spec), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs the token 'ba'")));
}

TEST(TokenizerJson, CreateRefusesIdsOutsideTheVocabulary) {
  ASSERT_OK_AND_ASSIGN(TokenizerSpec spec, Parse(Minimal()));
  spec.suffix_tokens = {TokenId{5}};
  EXPECT_THAT(Tokenizer::Create(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("outside the vocabulary of 5")));
}

}  // namespace
}  // namespace headstart::testing
