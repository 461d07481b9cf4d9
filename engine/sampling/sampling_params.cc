#include <cmath>
#include <string_view>

#include "engine/sampling/sampler.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr float kMaxTemperature = 100;  // past it every distribution is flat; keeps the lowest logits at probability 0
constexpr float kMaxPenalty = 2;        // the range of the OpenAI interface
constexpr int kMaxTopLogprobs = 20;     // likewise

absl::Status Refuse(std::string_view field, double value, std::string_view limits) {
  return absl::InvalidArgumentError(fmt::format("{} is {}; it must be {}", field, value, limits));
}

bool IsWithin(float value, float low, float high) { return value >= low && value <= high; }  // false for NaN

}  // namespace

absl::Status ValidateSamplingParams(const SamplingParams& params) {
  if (!IsWithin(params.temperature, 0, kMaxTemperature)) {
    return Refuse("temperature", params.temperature, "from 0 to 100");
  }
  if (params.top_k < 0) return Refuse("top_k", params.top_k, "at least 0, where 0 turns it off");
  if (!IsWithin(params.top_p, 0, 1) || params.top_p == 0) return Refuse("top_p", params.top_p, "above 0 and at most 1");
  if (!IsWithin(params.min_p, 0, 1)) return Refuse("min_p", params.min_p, "from 0 to 1");
  if (!std::isfinite(params.repetition_penalty) || params.repetition_penalty <= 0) {
    return Refuse("repetition_penalty", params.repetition_penalty, "above 0, where 1 turns it off");
  }
  if (!IsWithin(params.frequency_penalty, -kMaxPenalty, kMaxPenalty)) {
    return Refuse("frequency_penalty", params.frequency_penalty, "from -2 to 2");
  }
  if (!IsWithin(params.presence_penalty, -kMaxPenalty, kMaxPenalty)) {
    return Refuse("presence_penalty", params.presence_penalty, "from -2 to 2");
  }
  if (params.top_logprobs < 0 || params.top_logprobs > kMaxTopLogprobs) {
    return Refuse("top_logprobs", params.top_logprobs, "from 0 to 20");
  }
  return absl::OkStatus();
}

}  // namespace headstart
