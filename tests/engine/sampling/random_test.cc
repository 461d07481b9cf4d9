#include "engine/sampling/random.h"

#include <array>
#include <functional>

#include "gtest/gtest.h"

namespace headstart {
namespace {

// What a seed means is promised to users: these values never change.
TEST(Random, ValuesAreFixedForever) {
  EXPECT_EQ(RandomBitsAt(0, 0), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(RandomBitsAt(0, 1), 0xb382a305f4414f5eu);
  EXPECT_EQ(RandomBitsAt(1, 0), 0x5e41ab087439611eu);
  EXPECT_EQ(RandomBitsAt(~0ull, ~0ull), 0x445018e305810b78u);
}

TEST(Random, MixBitsIsSplitMix64) {
  // The first outputs of the published generator from state 0: the state is a multiple of the golden gamma.
  EXPECT_EQ(MixBits(0x9e3779b97f4a7c15), 0xe220a8397b1dcdafu);
  EXPECT_EQ(MixBits(2 * 0x9e3779b97f4a7c15), 0x6e789e6aa1b965f4u);
}

// χ² over 64 cells of 64,000 values: 63 degrees of freedom, so 120 is passed by chance once in 10^5 seeds; the seeds
// are fixed.
double ChiSquareOver64(const std::function<double(int)>& uniform) {
  constexpr int kValues = 64000;
  std::array<int, 64> counts{};
  for (int i = 0; i < kValues; ++i) ++counts.at(static_cast<size_t>(uniform(i) * 64));
  double chi_square = 0;
  for (int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  return chi_square;
}

TEST(Random, IsUniformAlongPositionsSeedsAndBoth) {
  EXPECT_LT(ChiSquareOver64([](int i) { return UniformAt(0, static_cast<uint64_t>(i)); }), 120);
  EXPECT_LT(ChiSquareOver64([](int i) { return UniformAt(static_cast<uint64_t>(i), 7); }), 120);
  EXPECT_LT(ChiSquareOver64([](int i) { return UniformAt(static_cast<uint64_t>(i), static_cast<uint64_t>(i)); }), 120);
}

// Neighbouring seeds and positions, whose inputs differ in a bit or two, must not lean on each other.
TEST(Random, NeighboursAreIndependent) {
  const auto pair = [](double a, double b) { return (static_cast<int>(a * 8) * 8 + static_cast<int>(b * 8)) / 64.0; };
  EXPECT_LT(ChiSquareOver64([&](int i) {
              const auto at = static_cast<uint64_t>(i);
              return pair(UniformAt(3, 2 * at), UniformAt(3, 2 * at + 1));
            }),
            120);
  EXPECT_LT(ChiSquareOver64([&](int i) {
              const auto seed = static_cast<uint64_t>(i);
              return pair(UniformAt(2 * seed, 5), UniformAt(2 * seed + 1, 5));
            }),
            120);
}

}  // namespace
}  // namespace headstart
