#include <cmath>
#include <functional>
#include <string>

#include "engine/sampling/sampler.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::StartsWith;

TEST(SamplingParams, DefaultsAndTheEndsOfEveryRangeAreValid) {
  EXPECT_OK(ValidateSamplingParams({}));
  EXPECT_OK(ValidateSamplingParams(
      {.temperature = 0, .top_p = 1, .min_p = 1, .frequency_penalty = -2, .presence_penalty = -2, .top_logprobs = 20}));
  EXPECT_OK(ValidateSamplingParams({.temperature = 100,
                                    .top_k = 1 << 30,
                                    .top_p = 1e-30f,
                                    .repetition_penalty = 1e-3f,
                                    .frequency_penalty = 2,
                                    .presence_penalty = 2}));
}

TEST(SamplingParams, EachFieldOutOfRangeIsNamed) {
  const struct {
    std::string field;
    std::function<void(SamplingParams&)> spoil;
  } kCases[] = {
      {"temperature", [](auto& p) { p.temperature = -0.1f; }},
      {"temperature", [](auto& p) { p.temperature = 100.1f; }},
      {"temperature", [](auto& p) { p.temperature = NAN; }},
      {"temperature", [](auto& p) { p.temperature = INFINITY; }},
      {"top_k", [](auto& p) { p.top_k = -1; }},
      {"top_p", [](auto& p) { p.top_p = 0; }},
      {"top_p", [](auto& p) { p.top_p = 1.01f; }},
      {"top_p", [](auto& p) { p.top_p = NAN; }},
      {"min_p", [](auto& p) { p.min_p = -0.01f; }},
      {"min_p", [](auto& p) { p.min_p = 1.01f; }},
      {"min_p", [](auto& p) { p.min_p = NAN; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = 0; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = INFINITY; }},
      {"repetition_penalty", [](auto& p) { p.repetition_penalty = NAN; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = 2.1f; }},
      {"frequency_penalty", [](auto& p) { p.frequency_penalty = NAN; }},
      {"presence_penalty", [](auto& p) { p.presence_penalty = -2.1f; }},
      {"top_logprobs", [](auto& p) { p.top_logprobs = -1; }},
      {"top_logprobs", [](auto& p) { p.top_logprobs = 21; }},
  };
  for (const auto& [field, spoil] : kCases) {
    SamplingParams params;
    spoil(params);
    EXPECT_THAT(ValidateSamplingParams(params),
                StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(field + " is ")));
  }
}

}  // namespace
}  // namespace headstart
