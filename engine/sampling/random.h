// Counter-based random numbers: a pure function of (seed, position), with no state to save, resume or share.
//
// The generator is SplitMix64 (Steele, Lea, Flood 2014) used by index: its stream for the mixed seed, at `position`.
// The mapping is part of what a user's seed means; it does not change between versions.

#ifndef HEADSTART_ENGINE_SAMPLING_RANDOM_H_
#define HEADSTART_ENGINE_SAMPLING_RANDOM_H_

#include <cstdint>

namespace headstart {

// SplitMix64's output function: a bijection in which every input bit reaches every output bit.
constexpr uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr uint64_t RandomBitsAt(uint64_t seed, uint64_t position) {
  constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio, odd
  const uint64_t stream = MixBits(seed + kGoldenGamma);
  return MixBits(stream + (position + 1) * kGoldenGamma);
}

// Uniform in [0, 1), in steps of 2^-53.
constexpr double UniformAt(uint64_t seed, uint64_t position) {
  return static_cast<double>(RandomBitsAt(seed, position) >> 11) * 0x1p-53;
}

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_RANDOM_H_
