#include "engine/model/model_config.h"

#include <cmath>

#include "fmt/format.h"

namespace headstart {
namespace {

// Far above any model that fits one machine, and small enough that no product of two sizes overflows 64 bits.
constexpr int kMaxLayers = 1024;
constexpr int kMaxHidden = 1 << 17;
constexpr int kMaxIntermediate = 1 << 20;
constexpr int kMaxHeads = 1024;
constexpr int kMaxHeadDim = 1024;
constexpr int kMaxVocabulary = 1 << 22;
constexpr int kMaxPositions = 1 << 24;

struct Bound {
  std::string_view field;
  int value;
  int min;
  int max;
};

absl::Status OutOfBounds(const Bound& bound) {
  return absl::InvalidArgumentError(
      fmt::format("{} is {}; {} to {} are allowed", bound.field, bound.value, bound.min, bound.max));
}

absl::Status CheckBounds(const ModelConfig& config) {
  const Bound bounds[] = {
      {"layers", config.layers, 1, kMaxLayers},
      {"hidden_size", config.hidden_size, 1, kMaxHidden},
      {"intermediate_size", config.intermediate_size, 1, kMaxIntermediate},
      {"heads", config.heads, 1, kMaxHeads},
      {"kv_heads", config.kv_heads, 1, kMaxHeads},
      {"head_dim", config.head_dim, 2, kMaxHeadDim},
      {"vocab_size", config.vocab_size, 1, kMaxVocabulary},
      {"max_positions", config.max_positions, 1, kMaxPositions},
      {"sliding_window", config.sliding_window, 0, kMaxPositions},
  };
  for (const Bound& bound : bounds) {
    if (bound.value < bound.min || bound.value > bound.max) return OutOfBounds(bound);
  }
  for (const int32_t id : config.eos_token_ids) {
    if (id < 0 || id >= config.vocab_size) return OutOfBounds({"eos_token_id", id, 0, config.vocab_size - 1});
  }
  return absl::OkStatus();
}

absl::Status CheckHeads(const ModelConfig& config) {
  if (config.heads % config.kv_heads != 0) {
    return absl::InvalidArgumentError(
        fmt::format("heads ({}) must be a multiple of kv_heads ({})", config.heads, config.kv_heads));
  }
  if (config.head_dim % 2 != 0) {
    return absl::InvalidArgumentError(fmt::format("head_dim must be even, and is {}", config.head_dim));
  }
  return absl::OkStatus();
}

// A range that also refuses NaN.
bool Within(double value, double low, double high) { return value >= low && value <= high; }

absl::Status CheckNumbers(const ModelConfig& config) {
  if (!(config.rms_norm_epsilon > 0) || config.rms_norm_epsilon > 1) {
    return absl::InvalidArgumentError(
        fmt::format("rms_norm_epsilon must be above 0 and at most 1, and is {}", config.rms_norm_epsilon));
  }
  if (!Within(config.rope_theta, 1 + 1e-6, 1e18)) {
    return absl::InvalidArgumentError(
        fmt::format("rope_theta must be above 1 and at most 1e18, and is {}", config.rope_theta));
  }
  return absl::OkStatus();
}

absl::Status CheckFactor(std::string_view field, double value, double low) {
  if (Within(value, low, 1e6)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{} of the rope scaling must be {} to 1e6, and is {}", field, low, value));
}

absl::Status CheckDivisors(const ModelConfig& config) {
  const auto& divisors = config.rope_scaling.divisors;
  if (divisors.empty()) return absl::OkStatus();
  if (divisors.size() != static_cast<size_t>(config.head_dim) / 2) {
    return absl::InvalidArgumentError(fmt::format("the rope scaling has {} divisors; half the head_dim, {}, are needed",
                                                  divisors.size(), config.head_dim / 2));
  }
  for (const float divisor : divisors) {
    if (auto status = CheckFactor("a divisor", divisor, 1e-6); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckLlama3(const RopeScaling& scaling) {
  if (auto status = CheckFactor("low_freq_factor", scaling.low_freq_factor, 1e-6); !status.ok()) return status;
  if (scaling.high_freq_factor > scaling.low_freq_factor) {
    return CheckFactor("high_freq_factor", scaling.high_freq_factor, 1e-6);
  }
  return absl::InvalidArgumentError(
      fmt::format("high_freq_factor of the rope scaling ({}) must be above low_freq_factor ({})",
                  scaling.high_freq_factor, scaling.low_freq_factor));
}

absl::Status CheckYarn(const RopeScaling& scaling) {
  if (auto status = CheckFactor("beta_fast", scaling.beta_fast, 1e-6); !status.ok()) return status;
  if (auto status = CheckFactor("beta_slow", scaling.beta_slow, 1e-6); !status.ok()) return status;
  return CheckFactor("attention_factor", scaling.attention_factor, 0);
}

absl::Status CheckScaling(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  if (auto status = CheckDivisors(config); !status.ok()) return status;
  if (scaling.kind == RopeScalingKind::kNone) return absl::OkStatus();
  if (auto status = CheckFactor("factor", scaling.factor, 1); !status.ok()) return status;
  if (scaling.kind == RopeScalingKind::kLinear) return absl::OkStatus();
  if (scaling.original_max_positions < 1 || scaling.original_max_positions > kMaxPositions) {
    return OutOfBounds({"original_max_positions", scaling.original_max_positions, 1, kMaxPositions});
  }
  return scaling.kind == RopeScalingKind::kLlama3 ? CheckLlama3(scaling) : CheckYarn(scaling);
}

}  // namespace

std::string_view ArchitectureName(Architecture architecture) {
  switch (architecture) {
    case Architecture::kLlama:
      return "llama";
    case Architecture::kMistral:
      return "mistral";
    case Architecture::kQwen2:
      return "qwen2";
    case Architecture::kQwen3:
      return "qwen3";
  }
  return "unknown";
}

absl::Status ValidateModelConfig(const ModelConfig& config) {
  if (auto status = CheckBounds(config); !status.ok()) return status;
  if (auto status = CheckHeads(config); !status.ok()) return status;
  if (auto status = CheckNumbers(config); !status.ok()) return status;
  return CheckScaling(config);
}

}  // namespace headstart
