#include "engine/backend/cpu/rope_table.h"

#include <cmath>

#include "engine/backend/cpu/parallel.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// A cosine and a sine in double cost about as much as passing over this many floats.
constexpr int kCostInFloats = 64;

}  // namespace

absl::Status RopeTable::Set(const RopeSpec& spec) {
  const auto pairs = static_cast<int>(spec.inverse_frequencies.size());
  if (spec.rotary_dim < 2 || spec.rotary_dim != 2 * pairs) {
    return absl::InvalidArgumentError(
        fmt::format("rope: rotary_dim {} with {} frequencies; it takes two dimensions each", spec.rotary_dim, pairs));
  }
  pairing_ = spec.pairing;
  magnitude_ = spec.magnitude;
  frequencies_.assign(spec.inverse_frequencies.begin(), spec.inverse_frequencies.end());
  return absl::OkStatus();
}

void RopeTable::Fill(std::span<const int32_t> positions, ThreadPool& pool) {
  float* values = values_.Reserve(positions.size() * pairs() * 2);
  ForRows(pool, static_cast<int>(positions.size()), pairs() * kCostInFloats, [&](int index, int) {
    float* cosines = values + int64_t{index} * pairs() * 2;
    for (int pair = 0; pair < pairs(); ++pair) {
      const double angle = positions[index] * frequencies_[pair];
      cosines[pair] = static_cast<float>(std::cos(angle) * magnitude_);
      cosines[pairs() + pair] = static_cast<float>(std::sin(angle) * magnitude_);
    }
  });
}

}  // namespace headstart
