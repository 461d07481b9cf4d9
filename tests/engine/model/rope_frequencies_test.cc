// Against an independent implementation of the published formulas, tests/golden/model/rope_frequencies.py.

#include <cmath>
#include <fstream>

#include "engine/model/hf_config.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using nlohmann::json;

json Golden() {
  std::ifstream in("tests/golden/model/rope_frequencies.json");
  return json::parse(in);
}

// A configuration file with these rope fields.
absl::StatusOr<ModelConfig> Parse(json config) {
  config.update({{"model_type", "qwen3"},
                 {"num_hidden_layers", 1},
                 {"hidden_size", 64},
                 {"intermediate_size", 64},
                 {"num_attention_heads", 1},
                 {"num_key_value_heads", 1},
                 {"vocab_size", 300}});
  return ParseHuggingFaceConfig({.config_json = config.dump(),
                                 .config_path = "config.json",
                                 .generation_config_json = "",
                                 .generation_config_path = ""});
}

// Both compute in double with a handful of operations, each right to an ulp of double, and round to float once: they
// may differ by one float at most, where the doubles straddle the middle between two.
void ExpectSameFloat(float actual, double golden, const std::string& what) {
  const auto expected = static_cast<float>(golden);
  EXPECT_LE(std::fabs(actual - expected), std::fabs(std::nextafter(expected, 2 * expected) - expected)) << what;
}

TEST(RopeFrequencies, EqualThePublishedFormulas) {
  const json cases = Golden();
  ASSERT_EQ(cases.size(), 11);
  for (const json& golden : cases) {
    const auto name = golden["name"].get<std::string>();
    ASSERT_OK_AND_ASSIGN(const ModelConfig config, Parse(golden["config"]));
    const RopeFrequencies actual = ComputeRopeFrequencies(config);
    ASSERT_EQ(actual.inverse.size(), golden["inverse"].size()) << name;
    for (size_t i = 0; i < actual.inverse.size(); ++i) ExpectSameFloat(actual.inverse[i], golden["inverse"][i], name);
    ExpectSameFloat(actual.magnitude, golden["magnitude"], name);
  }
}

TEST(RopeFrequencies, NewAndOldSpellingsAgree) {
  for (const json& golden : Golden()) {
    json config = golden["config"];
    json parameters = config["rope_scaling"].is_null() ? json::object() : config["rope_scaling"];
    parameters["rope_theta"] = config["rope_theta"];
    if (parameters.contains("type")) parameters["rope_type"] = parameters["type"];
    ASSERT_OK_AND_ASSIGN(const ModelConfig old_spelling, Parse(config));
    config.erase("rope_scaling");
    config.erase("rope_theta");
    config["rope_parameters"] = parameters;
    ASSERT_OK_AND_ASSIGN(const ModelConfig new_spelling, Parse(config));
    EXPECT_EQ(ComputeRopeFrequencies(old_spelling).inverse, ComputeRopeFrequencies(new_spelling).inverse)
        << golden["name"];
    EXPECT_EQ(old_spelling.max_positions, new_spelling.max_positions) << golden["name"];
  }
}

TEST(RopeFrequencies, AreDividedByGgufsTable) {
  ModelConfig config;
  config.head_dim = 8;
  const auto plain = ComputeRopeFrequencies(config).inverse;
  config.rope_scaling.divisors = {1, 2, 4, 8};
  const auto divided = ComputeRopeFrequencies(config).inverse;
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(divided[i], plain[i] / config.rope_scaling.divisors[i]);
}

TEST(RopeFrequencies, YarnReachesPastTheNamedContext) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig config, Parse(Golden()[5]["config"]));
  EXPECT_EQ(config.max_positions, 4 * 32768);
}

}  // namespace
}  // namespace headstart
