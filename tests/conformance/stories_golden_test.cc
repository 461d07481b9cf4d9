// A trained model of 260 thousand parameters: greedy answers and their log-probabilities equal those of another
// program. The data lies beside the repository; without it these tests are skipped.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/model/model_source.h"
#include "engine/sampling/sampler.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/backends.h"
#include "tests/testing/status.h"
#include "tests/testing/tiny_model.h"

namespace headstart::testing {
namespace {

constexpr char kModelPath[] = "../shared/data/models/stories260K.gguf";
constexpr char kGoldenPath[] = "../shared/data/golden/stories260K_greedy.json";

struct Golden {
  std::vector<TokenId> prompt;
  std::vector<TokenId> answer;
  std::vector<double> logprobs;  // of the first tokens of the answer
};

std::vector<TokenId> TokensOf(const nlohmann::json& ids) {
  std::vector<TokenId> tokens;
  for (const int id : ids) tokens.push_back(TokenId{id});
  return tokens;
}

std::vector<Golden> ReadGoldens() {
  std::ifstream file(kGoldenPath);
  const nlohmann::json document = nlohmann::json::parse(file);
  std::vector<Golden> goldens;
  for (const nlohmann::json& one : document.at("cases")) {
    goldens.push_back({.prompt = TokensOf(one.at("prompt_ids")),
                       .answer = TokensOf(one.at("ids")),
                       .logprobs = one.at("logprobs").get<std::vector<double>>()});
  }
  return goldens;
}

class StoriesGoldenTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kModelPath) || !std::filesystem::exists(kGoldenPath)) {
      GTEST_SKIP() << kModelPath << " or " << kGoldenPath << " is not there";
    }
  }

  std::vector<SampledToken> Greedy(TinyModel& model, const std::vector<TokenId>& prompt, size_t count) {
    Sampler sampler({.temperature = 0}, prompt);
    std::vector<SlotIndex> slots;
    for (uint32_t slot = 0; slot < 32; ++slot) slots.push_back(SlotIndex{slot});
    std::vector<TokenId> tokens = prompt;
    std::vector<SampledToken> answer;
    int computed = 0;
    while (answer.size() < count) {
      BatchBuilder builder;
      const int length = static_cast<int>(tokens.size());
      builder.Add({.tokens = tokens, .first = computed, .count = length - computed, .slots = slots});
      model.transformer().Forward(builder.batch());
      computed = length;
      answer.push_back(sampler.Sample(model.transformer().Logits(0), length));
      tokens.push_back(answer.back().token);
    }
    return answer;
  }
};

TEST_P(StoriesGoldenTest, GreedyAnswersAreEqual) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ModelSource> source, OpenModel(kModelPath));
  ASSERT_OK_AND_ASSIGN(TinyModel model, TinyModel::Load(std::move(source), GetParam().create(2)));
  const std::vector<Golden> goldens = ReadGoldens();
  ASSERT_FALSE(goldens.empty());
  for (size_t i = 0; i < goldens.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "case " << i);
    const std::vector<SampledToken> answer = Greedy(model, goldens[i].prompt, goldens[i].answer.size());
    std::vector<TokenId> ids;
    for (const SampledToken& token : answer) ids.push_back(token.token);
    EXPECT_EQ(ids, goldens[i].answer);
    for (size_t t = 0; t < goldens[i].logprobs.size(); ++t) {
      EXPECT_NEAR(answer[t].logprob, goldens[i].logprobs[t], 1e-3)
          << "token " << t;  // they are written with five digits
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, StoriesGoldenTest, ::testing::ValuesIn(AllBackends()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headstart::testing
