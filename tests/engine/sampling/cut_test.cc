#include "engine/sampling/cut.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/engine/sampling/logits.h"

namespace headstart {
namespace {

using ::headstart::testing::LogitsWithTies;

std::set<int32_t> Kept(const std::vector<float>& logits, const CutLimits& limits) {
  std::vector<CutCandidate> scratch;
  const Cut cut = FindCut(logits, limits, scratch);
  std::set<int32_t> kept;
  for (int32_t id = 0; id < static_cast<int32_t>(logits.size()); ++id) {
    if (cut.Keeps(logits[static_cast<size_t>(id)], id)) kept.insert(id);
  }
  return kept;
}

// The definition, with a full sort.
std::set<int32_t> NaivelyKept(const std::vector<float>& logits, const CutLimits& limits) {
  std::vector<int32_t> ranked(logits.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  std::stable_sort(ranked.begin(), ranked.end(), [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  const auto weight = [&](int32_t id) { return WeightOf(logits[id], logits[ranked[0]], limits.temperature); };

  if (limits.min_p > 0) std::erase_if(ranked, [&](int32_t id) { return weight(id) < limits.min_p * (1 - 1e-12); });
  if (limits.top_k > 0 && ranked.size() > static_cast<size_t>(limits.top_k)) ranked.resize(limits.top_k);
  double total = 0;
  for (int32_t id : ranked) total += weight(id);
  double mass = 0;
  std::set<int32_t> kept;
  for (int32_t id : ranked) {
    if (mass >= limits.top_p * total && limits.top_p < 1) break;
    mass += weight(id);
    kept.insert(id);
  }
  return kept;
}

TEST(Cut, EqualsTheDefinitionForEveryCombination) {
  int combination = 0;
  for (int size : {1, 2, 3, 17, 500}) {
    for (float temperature : {0.05f, 0.7f, 1.0f, 3.0f}) {
      for (int top_k : {0, 1, 2, 16, 1000}) {
        for (double top_p : {0.001, 0.31, 0.907, 0.99993, 1.0}) {
          for (double min_p : {0.0, 0.013, 0.51, 1.0}) {
            const std::vector<float> logits = LogitsWithTies(size, static_cast<uint32_t>(++combination));
            const CutLimits limits = {.temperature = temperature, .top_k = top_k, .top_p = top_p, .min_p = min_p};
            ASSERT_EQ(Kept(logits, limits), NaivelyKept(logits, limits))
                << fmt::format("size {} temperature {} top_k {} top_p {} min_p {} seed {}", size, temperature, top_k,
                               top_p, min_p, combination);
          }
        }
      }
    }
  }
}

TEST(Cut, TopKKeepsExactlyKAmongTiesTheLowestIds) {
  EXPECT_EQ(Kept({1, 5, 5, 5, 5, 0}, {.top_k = 2}), (std::set<int32_t>{1, 2}));
}

TEST(Cut, TopPKeepsTheTokenThatReachesTheMass) {
  // Probabilities 0.5, 0.25, 0.125, 0.125.
  const std::vector<float> logits = {0, std::log(0.5f), std::log(0.25f), std::log(0.25f)};
  EXPECT_EQ(Kept(logits, {.top_p = 0.4}), (std::set<int32_t>{0}));
  EXPECT_EQ(Kept(logits, {.top_p = 0.6}), (std::set<int32_t>{0, 1}));
  EXPECT_EQ(Kept(logits, {.top_p = 0.8}), (std::set<int32_t>{0, 1, 2}));
}

TEST(Cut, TopPCountsTheMassLeftByTopK) {
  // Of 0.5, 0.25, 0.125, 0.125 top-k leaves 2/3 and 1/3: the first alone reaches 0.6 of it.
  const std::vector<float> logits = {0, std::log(0.5f), std::log(0.25f), std::log(0.25f)};
  EXPECT_EQ(Kept(logits, {.top_k = 2, .top_p = 0.6}), (std::set<int32_t>{0}));
}

TEST(Cut, MinPFollowsTheTemperature) {
  const std::vector<float> logits = {0, -1};  // at temperature 1 the second has 37% of the first's probability
  EXPECT_EQ(Kept(logits, {.temperature = 1, .min_p = 0.4}), (std::set<int32_t>{0}));
  EXPECT_EQ(Kept(logits, {.temperature = 2, .min_p = 0.4}), (std::set<int32_t>{0, 1}));
}

TEST(Cut, FlatLogitsOfAWholeVocabulary) {
  const std::vector<float> flat(100000, 1.5f);
  EXPECT_EQ(Kept(flat, {.top_p = 0.25}).size(), 25000u);
  EXPECT_EQ(Kept(flat, {.top_k = 77}).size(), 77u);
  EXPECT_EQ(Kept(flat, {.min_p = 1}).size(), 100000u);
}

}  // namespace
}  // namespace headstart
