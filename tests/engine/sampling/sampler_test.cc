#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "engine/sampling/random.h"
#include "gtest/gtest.h"
#include "tests/engine/sampling/logits.h"

namespace headstart {
namespace {

using ::headstart::testing::LogitsWithTies;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<TokenId> Ids(std::initializer_list<int> ids) {
  std::vector<TokenId> tokens;
  for (int id : ids) tokens.push_back(TokenId{id});
  return tokens;
}

TokenId Greedy(const std::vector<float>& logits) { return Sampler({.temperature = 0}, {}).Sample(logits, 0).token; }

double LogprobOf(const std::vector<float>& logits, int id) {
  double sum = 0;
  for (float logit : logits) sum += std::exp(double{logit});
  return logits[static_cast<size_t>(id)] - std::log(sum);
}

TEST(Sampler, GreedyTakesTheLargestAndOfTiesTheLowestId) {
  EXPECT_EQ(Greedy({-3, 2, 1}), TokenId{1});
  EXPECT_EQ(Greedy({1, 4, 0, 4, 4}), TokenId{1});
  EXPECT_EQ(Greedy({0, 0, 0}), TokenId{0});
  EXPECT_EQ(Greedy({-0.0f, 0.0f}), TokenId{0});
}

TEST(Sampler, LogprobsAreOfTheUnmodifiedDistribution) {
  const std::vector<float> logits = LogitsWithTies(300, 5);
  Sampler sampler({.temperature = 0.3f,
                   .top_k = 4,
                   .repetition_penalty = 1.7f,
                   .frequency_penalty = 1,
                   .presence_penalty = 1,
                   .top_logprobs = 5},
                  Ids({1, 2, 3}));
  for (int position = 3; position < 20; ++position) {
    const SampledToken sampled = sampler.Sample(logits, position);
    EXPECT_NEAR(sampled.logprob, LogprobOf(logits, ToIndex(sampled.token)), 1e-5);
    for (const TokenLogprob& top : sampled.top) EXPECT_NEAR(top.logprob, LogprobOf(logits, ToIndex(top.token)), 1e-5);
  }
}

TEST(Sampler, TopLogprobsAreTheLikeliestInOrderTiesByLowestId) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::vector<float> logits = LogitsWithTies(100, seed);
    std::vector<int> ranked(logits.size());
    std::iota(ranked.begin(), ranked.end(), 0);
    std::stable_sort(ranked.begin(), ranked.end(), [&](int a, int b) { return logits[a] > logits[b]; });
    const SampledToken sampled = Sampler({.top_logprobs = 20}, {}).Sample(logits, 0);
    ASSERT_EQ(sampled.top.size(), 20u);
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(ToIndex(sampled.top[i].token), ranked[i]) << "place " << i;
  }
}

TEST(Sampler, TopLogprobsOfASmallVocabularyAreAllOfIt) {
  EXPECT_EQ(Sampler({.top_logprobs = 20}, {}).Sample(std::vector<float>{1, 2, 3}, 0).top.size(), 3u);
  EXPECT_TRUE(Sampler({.top_logprobs = 0}, {}).Sample(std::vector<float>{1, 2, 3}, 0).top.empty());
}

TEST(Sampler, WithoutLogprobsTheTokensAreTheSame) {
  const std::vector<float> logits = LogitsWithTies(500, 8);
  Sampler with({.top_p = 0.9f, .seed = 5, .top_logprobs = 3}, {});
  Sampler without({.top_p = 0.9f, .seed = 5, .top_logprobs = 3, .logprobs = false}, {});
  for (int position = 0; position < 100; ++position) {
    const SampledToken sampled = without.Sample(logits, position);
    EXPECT_EQ(sampled.token, with.Sample(logits, position).token);
    EXPECT_EQ(sampled.logprob, 0);
    EXPECT_TRUE(sampled.top.empty());
  }
}

TEST(Sampler, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogitsOfPromptAndAnswer) {
  Sampler positive({.temperature = 0, .repetition_penalty = 2}, Ids({0}));
  EXPECT_EQ(positive.Sample(std::vector<float>{3, 2, 1.4f}, 1).token, TokenId{1});  // 1.5, 2, 1.4
  EXPECT_EQ(positive.Sample(std::vector<float>{3, 2, 1.4f}, 2).token, TokenId{0});  // 1.5, 1, 1.4
  Sampler negative({.temperature = 0, .repetition_penalty = 2}, Ids({0}));
  EXPECT_EQ(negative.Sample(std::vector<float>{-1, -1.5f, -3}, 1).token, TokenId{1});  // -2, -1.5, -3
}

TEST(Sampler, FrequencyPenaltyGrowsWithEachOccurrenceInTheAnswerOnly) {
  Sampler sampler({.temperature = 0, .frequency_penalty = 1}, Ids({0, 0, 0, 0}));
  const std::vector<float> logits = {2.5f, 1, 0.2f};
  std::vector<int> picked;
  for (int i = 0; i < 5; ++i) picked.push_back(ToIndex(sampler.Sample(logits, 4 + i).token));
  EXPECT_EQ(picked, (std::vector<int>{0, 0, 1, 0, 2}));  // 2.5 1.5 | 0.5<1 | 0.5>0.2>0 | then -0.5, 0, 0.2
}

TEST(Sampler, PresencePenaltyCountsOnceAndNegativeOnesEncourage) {
  Sampler once({.temperature = 0, .presence_penalty = 1}, {});
  const std::vector<float> logits = {2.5f, 1, 0.2f};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(once.Sample(logits, i).token, TokenId{0});  // 1.5 and never less
  Sampler encouraging({.temperature = 0, .presence_penalty = -2}, {});
  EXPECT_EQ(encouraging.Sample(std::vector<float>{1, 0, 0}, 0).token, TokenId{0});
  EXPECT_EQ(encouraging.Sample(std::vector<float>{0, 1, 0}, 1).token, TokenId{0});
}

TEST(Sampler, TokensOutsideTheVocabularyInThePromptAreIgnored) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 2}, Ids({-1, 3, 1000000}));
  EXPECT_EQ(sampler.Sample(std::vector<float>{1, 2, 3}, 3).token, TokenId{2});
}

TEST(Sampler, IsAFunctionOfSeedAndPositionAlone) {
  const std::vector<float> logits = LogitsWithTies(1000, 9);
  Sampler in_order({.seed = 42}, {});
  std::map<int64_t, TokenId> at;
  for (int64_t position = 0; position < 50; ++position) at[position] = in_order.Sample(logits, position).token;
  for (int64_t position = 49; position >= 0; --position) {
    EXPECT_EQ(Sampler({.seed = 42}, {}).Sample(logits, position).token, at[position]) << "position " << position;
  }
  std::set<TokenId> over_seeds;
  for (uint64_t seed = 0; seed < 50; ++seed) over_seeds.insert(Sampler({.seed = seed}, {}).Sample(logits, 0).token);
  EXPECT_GT(over_seeds.size(), 20u);
}

// The definition of a draw: ids ascending, each as wide as its probability, at the uniform number of (seed, position).
TEST(Sampler, DrawsByInverseOfTheCumulatedProbabilities) {
  const std::vector<float> logits = LogitsWithTies(64, 3);
  for (int64_t position = 0; position < 2000; ++position) {
    const double uniform = UniformAt(1, static_cast<uint64_t>(position));
    double cumulated = 0;
    int expected = -1;
    while (cumulated <= uniform) cumulated += std::exp(LogprobOf(logits, ++expected));
    ASSERT_EQ(ToIndex(Sampler({.seed = 1}, {}).Sample(logits, position).token), expected) << "position " << position;
  }
}

// χ² of 40,000 draws against the probabilities that the parameters leave. Cells have at least 5 expected draws; the
// limit is the mean plus six standard deviations of a χ² with as many degrees of freedom.
void ExpectDistribution(const SamplingParams& params, const std::vector<float>& logits,
                        const std::map<int, double>& probabilities) {
  constexpr int kDraws = 40000;
  std::map<int, int> counts;
  Sampler sampler(params, {});
  for (int position = 0; position < kDraws; ++position) ++counts[ToIndex(sampler.Sample(logits, position).token)];
  double chi_square = 0;
  for (const auto& [id, probability] : probabilities) {
    const double expected = probability * kDraws;
    ASSERT_GE(expected, 5) << "id " << id;
    chi_square += (counts[id] - expected) * (counts[id] - expected) / expected;
    counts.erase(id);
  }
  EXPECT_TRUE(counts.empty()) << "id " << counts.begin()->first << " was drawn and has no chance";
  const double freedom = static_cast<double>(probabilities.size()) - 1;
  EXPECT_LT(chi_square, freedom + 6 * std::sqrt(2 * freedom));
}

std::map<int, double> Softmax(const std::map<int, double>& exponents) {
  double sum = 0;
  for (const auto& [id, exponent] : exponents) sum += std::exp(exponent);
  std::map<int, double> probabilities;
  for (const auto& [id, exponent] : exponents) probabilities[id] = std::exp(exponent) / sum;
  return probabilities;
}

TEST(Sampler, DrawsFollowTheDistribution) {
  const std::vector<float> logits = {0, 1, 2, -1, 0.5f, 2};
  ExpectDistribution({.seed = 1}, logits, Softmax({{0, 0}, {1, 1}, {2, 2}, {3, -1}, {4, 0.5}, {5, 2}}));
}

TEST(Sampler, DrawsFollowTheTemperature) {
  const std::vector<float> logits = {0, 1, 2, -1, 0.5f, 2};
  ExpectDistribution({.temperature = 2, .seed = 2}, logits,
                     Softmax({{0, 0}, {1, 0.5}, {2, 1}, {3, -0.5}, {4, 0.25}, {5, 1}}));
}

TEST(Sampler, DrawsFollowWhatTheFiltersLeave) {
  const std::vector<float> logits = {0, 1, 2, -1, 0.5f, 2};
  ExpectDistribution({.top_k = 3, .seed = 3}, logits, Softmax({{1, 1}, {2, 2}, {5, 2}}));
  ExpectDistribution({.top_p = 0.6f, .seed = 4}, logits, Softmax({{2, 2}, {5, 2}}));
  ExpectDistribution({.min_p = 0.2f, .seed = 5}, logits, Softmax({{1, 1}, {2, 2}, {4, 0.5}, {5, 2}}));
  ExpectDistribution({.temperature = 0.5f, .min_p = 0.1f, .seed = 6}, logits, Softmax({{1, 2}, {2, 4}, {5, 4}}));
}

// Whatever a model's faults put into its logits, a token of the vocabulary comes out, with finite log-probabilities.
TEST(Sampler, LogitsThatAreNoNumbersDoNotCrash) {
  const std::vector<std::vector<float>> kRows = {
      {kNan, kNan, kNan},
      {kNan, 1, kNan},
      {-kInfinity, -kInfinity},
      {kInfinity, 0, kInfinity},
      {kInfinity, -kInfinity},
      {kNan, kInfinity, 3},
      {-kInfinity, kNan, -1},
      {3e38f, -3e38f, 3e38f},
      {1e-45f, -1e-45f, 0},
      {kNan},
      {-kInfinity},
  };
  for (size_t row = 0; row < kRows.size(); ++row) {
    for (float temperature : {0.0f, 1e-30f, 1.0f, 100.0f}) {
      for (float top_p : {0.1f, 1.0f}) {
        Sampler sampler({.temperature = temperature,
                         .top_k = 2,
                         .top_p = top_p,
                         .min_p = 0.1f,
                         .repetition_penalty = 0.5f,
                         .frequency_penalty = 2,
                         .top_logprobs = 3},
                        Ids({0, 1}));
        for (int position = 0; position < 8; ++position) {
          const SampledToken sampled = sampler.Sample(kRows[row], position);
          ASSERT_LT(static_cast<size_t>(ToIndex(sampled.token)), kRows[row].size()) << "row " << row;
          EXPECT_TRUE(std::isfinite(sampled.logprob)) << "row " << row;
          for (const TokenLogprob& top : sampled.top) EXPECT_TRUE(std::isfinite(top.logprob)) << "row " << row;
        }
      }
    }
  }
}

TEST(Sampler, MaskedTokensAreNeverPickedWhileAnotherIsLeft) {
  const std::vector<float> logits = {-kInfinity, kNan, -5, -kInfinity};
  for (float temperature : {0.0f, 0.5f, 100.0f}) {
    Sampler sampler({.temperature = temperature}, {});
    for (int position = 0; position < 200; ++position) {
      EXPECT_EQ(sampler.Sample(logits, position).token, TokenId{2}) << "temperature " << temperature;
    }
  }
}

TEST(Sampler, AVanishingTemperatureIsGreedy) {
  const std::vector<float> logits = LogitsWithTies(200, 11);
  std::vector<float> distinct = logits;
  for (size_t i = 0; i < distinct.size(); ++i) distinct[i] += static_cast<float>(i) * 1e-3f;
  Sampler sampler({.temperature = 1e-37f}, {});
  for (int position = 0; position < 50; ++position) {
    EXPECT_EQ(sampler.Sample(distinct, position).token, Greedy(distinct));
  }
}

}  // namespace
}  // namespace headstart
