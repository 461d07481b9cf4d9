// Logits of synthetic models against those of an independent program (tests/golden/logits/README.md). The models are
// made again from their seeds, so that nothing large is kept; their digests are compared first.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/model/model_source.h"
#include "engine/model/synth.h"
#include "engine/model/weights_digest.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/conformance/backends.h"
#include "tests/conformance/rounding.h"
#include "tests/testing/status.h"
#include "tests/testing/tiny_model.h"

namespace headstart::testing {
namespace {

struct GoldenCase {
  std::string shape;
  DType weights;

  std::string name() const { return fmt::format("{}_{}", shape, NameOf(weights)); }
};

nlohmann::json Read(const GoldenCase& golden) {
  std::ifstream file("tests/golden/logits/" + golden.name() + ".json");
  return nlohmann::json::parse(file);
}

// What a linear layer's inputs lose where a program rounds them to the weights' type, relative to their root mean
// square: bf16 keeps 8 bits; Q8_0 rounds to 1/127 of the largest of 32, which is about 2.1 standard deviations of
// numbers that are spread normally. Spread evenly within half a step, which the division by √3 accounts for.
double InputRounding(DType weights) {
  switch (weights) {
    case DType::kBF16:
      return kBf16Unit / std::sqrt(3);
    case DType::kQ8_0:
      return 2.1 / 127 / 2 / std::sqrt(3);
    default:
      return 0;
  }
}

// Both programs round on their own, in each of the linear layers on a path through the model, and sum in f32; six
// standard deviations of that, times the row's root mean square, since the last linear layer's outputs are as wide as
// its inputs' errors make them. Norms and softmax pass errors on about as they are.
double Tolerance(const ModelConfig& config, DType weights, double row_rms) {
  const double linears = 4.0 * config.layers + 1;
  const double summing = kF32Unit * std::sqrt(static_cast<double>(config.intermediate_size));
  const double one = std::hypot(InputRounding(weights), summing);
  const double programs = 2;
  return 6 * one * std::sqrt(linears * programs) * row_rms;
}

class LogitsGoldenTest : public ::testing::TestWithParam<std::tuple<BackendCase, GoldenCase>> {
 protected:
  const BackendCase& backend() const { return std::get<0>(GetParam()); }
  const GoldenCase& golden() const { return std::get<1>(GetParam()); }

  std::unique_ptr<ModelSource> Source(const nlohmann::json& json) {
    const auto files = SynthModelFiles({.shape = golden().shape,
                                        .seed = json.at("seed").get<uint64_t>(),
                                        .format = SynthFormat::kGguf,
                                        .dtype = golden().weights});
    EXPECT_OK(files);
    absl::StatusOr<std::unique_ptr<ModelSource>> source = OpenModel(*files, golden().name());
    EXPECT_OK(source);
    return *std::move(source);
  }
};

TEST_P(LogitsGoldenTest, AreThoseOfAnotherProgram) {
  const nlohmann::json json = Read(golden());
  std::unique_ptr<ModelSource> source = Source(json);
  const Fingerprint digest = WeightsDigest(*source);
  ASSERT_EQ(fmt::format("{:016x}{:016x}", digest.high, digest.low), json.at("weights_digest").get<std::string>())
      << "the synthetic model is another one than when the logits were made";
  const ModelConfig config = source->config();
  ASSERT_OK_AND_ASSIGN(TinyModel model, TinyModel::Load(std::move(source), backend().create(2)));
  std::vector<TokenId> tokens;
  for (const int id : json.at("tokens")) tokens.push_back(TokenId{id});
  const LogitRows actual = model.Cold(tokens);

  for (const nlohmann::json& row : json.at("rows")) {
    const size_t position = row.at("position");
    const double tolerance = Tolerance(config, golden().weights, row.at("rms"));
    for (const nlohmann::json& logit : row.at("logits")) {
      const size_t id = logit.at(0);
      ASSERT_NEAR(actual.at(position).at(id), logit.at(1).get<float>(), tolerance)
          << "position " << position << " id " << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, LogitsGoldenTest,
    ::testing::Combine(::testing::ValuesIn(AllBackends()),
                       ::testing::Values(GoldenCase{"tiny", DType::kF32}, GoldenCase{"tiny", DType::kBF16},
                                         GoldenCase{"tiny", DType::kQ8_0}, GoldenCase{"tiny-llama3", DType::kF32},
                                         GoldenCase{"tiny-llama3", DType::kBF16},
                                         GoldenCase{"tiny-llama3", DType::kQ8_0}, GoldenCase{"tiny-qwen2", DType::kF32},
                                         GoldenCase{"tiny-yarn", DType::kF32})),
    [](const auto& test) {
      std::string name = std::get<0>(test.param).name + "_" + std::get<1>(test.param).name();
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace headstart::testing
