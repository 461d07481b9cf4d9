#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/cpu/packed_weights.h"
#include "tests/kernels/kernel_test_data.h"

namespace headstart::kernels::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kCounts[] = {1, 2, 15, 16, 17, 63, 64, 65, 128, 300, 4096};

using RowKernelTest = KernelTest;

TEST_P(RowKernelTest, ExpKeepsItsErrorBound) {
  std::vector<float> in;
  for (int i = -87200; i <= 88200; i += 7) in.push_back(static_cast<float>(i) / 1000);
  std::vector<float> out(in.size());
  kernels().exp(in.data(), static_cast<int>(in.size()), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    const double exact = std::exp(double{in[i]});
    ASSERT_NEAR(out[i], exact, exact * 0x1p-22) << in[i];
  }
}

TEST_P(RowKernelTest, ExpAtItsEdges) {
  const std::vector<float> in = {0.0f, -0.0f, -kInfinity, -88.0f, -1e30f, NAN, kInfinity};
  std::vector<float> out(in.size());
  kernels().exp(in.data(), static_cast<int>(in.size()), out.data());
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], 1.0f);
  EXPECT_EQ(Bits(out[2]), 0u);
  EXPECT_EQ(Bits(out[3]), 0u);
  EXPECT_EQ(Bits(out[4]), 0u);
  EXPECT_TRUE(std::isnan(out[5]));
  EXPECT_GT(out[6], 1e38f);
}

// The mean of n squares is off by n + 2 roundings at most, its root by half of that and one, and three products follow.
TEST_P(RowKernelTest, RmsNormMatchesDoublePrecision) {
  for (int count : kCounts) {
    const std::vector<float> in = RandomFloats(count, 1, 3.0f), weight = RandomFloats(count, 2);
    std::vector<float> out(count);
    kernels().rms_norm(in.data(), weight.data(), count, 1e-5f, out.data());
    double squares = 0;
    for (float x : in) squares += double{x} * x;
    const double factor = 1 / std::sqrt(squares / count + double{1e-5f});
    for (int i = 0; i < count; ++i) {
      const double exact = in[i] * factor * weight[i];
      ASSERT_NEAR(out[i], exact, std::abs(exact) * (count / 2.0 + 6) * kUnit) << count << ", " << i;
    }
  }
}

TEST_P(RowKernelTest, RmsNormInPlaceEqualsOutOfPlace) {
  const std::vector<float> weight = RandomFloats(65, 3);
  std::vector<float> in = RandomFloats(65, 4), out(65);
  kernels().rms_norm(in.data(), weight.data(), 65, 1e-6f, out.data());
  kernels().rms_norm(in.data(), weight.data(), 65, 1e-6f, in.data());
  EXPECT_EQ(in, out);
}

struct Turn {
  std::vector<float> cosines, sines;
};
Turn RandomTurn(int pairs) {
  Turn turn;
  for (float angle : RandomFloats(pairs, 5)) {
    turn.cosines.push_back(std::cos(angle));
    turn.sines.push_back(std::sin(angle));
  }
  return turn;
}

// Two products and an addition: three roundings, each at most of the sum of magnitudes.
void ExpectTurned(const std::vector<float>& before, const std::vector<float>& after, const Turn& turn, int i, int x,
                  int y) {
  const double c = turn.cosines[i], s = turn.sines[i];
  const double tolerance = 3 * kUnit * (std::abs(before[x]) + std::abs(before[y]));
  ASSERT_NEAR(after[x], before[x] * c - before[y] * s, tolerance);
  ASSERT_NEAR(after[y], before[y] * c + before[x] * s, tolerance);
}

TEST_P(RowKernelTest, RopeTurnsHalvesAndNothingElse) {
  for (int pairs : {1, 4, 16, 20, 32, 64}) {
    const Turn turn = RandomTurn(pairs);
    const std::vector<float> before = RandomFloats(2 * pairs + 3, 6);
    std::vector<float> after = before;
    kernels().rope_halves(after.data(), turn.cosines.data(), turn.sines.data(), pairs);
    for (int i = 0; i < pairs; ++i) ExpectTurned(before, after, turn, i, i, pairs + i);
    for (int i = 2 * pairs; i < 2 * pairs + 3; ++i) ASSERT_EQ(after[i], before[i]);
  }
}

TEST_P(RowKernelTest, RopeTurnsAdjacentAndNothingElse) {
  for (int pairs : {1, 4, 16, 20, 32, 64}) {
    const Turn turn = RandomTurn(pairs);
    const std::vector<float> before = RandomFloats(2 * pairs + 3, 7);
    std::vector<float> after = before;
    kernels().rope_adjacent(after.data(), turn.cosines.data(), turn.sines.data(), pairs);
    for (int i = 0; i < pairs; ++i) ExpectTurned(before, after, turn, i, 2 * i, 2 * i + 1);
    for (int i = 2 * pairs; i < 2 * pairs + 3; ++i) ASSERT_EQ(after[i], before[i]);
  }
}

// The exponential's 2^-22 counts in proportion to its share of 1 + exp(−x), at most all of it; three more roundings.
TEST_P(RowKernelTest, SwiGluMatchesDoublePrecision) {
  for (int count : kCounts) {
    const std::vector<float> gate = RandomFloats(count, 8, 20.0f), up = RandomFloats(count, 9);
    std::vector<float> out(count);
    kernels().swiglu(gate.data(), up.data(), count, out.data());
    for (int i = 0; i < count; ++i) {
      const double exact = gate[i] / (1 + std::exp(-double{gate[i]})) * up[i];
      ASSERT_NEAR(out[i], exact, std::abs(exact) * (0x1p-22 + 4 * kUnit)) << gate[i];
    }
  }
}

TEST_P(RowKernelTest, SwiGluOfLargeGates) {
  const std::vector<float> gate = {1000.0f, -1000.0f, 88.5f, -88.5f}, up(4, 1.0f);
  std::vector<float> out(4);
  kernels().swiglu(gate.data(), up.data(), 4, out.data());
  EXPECT_EQ(out[0], 1000.0f);
  EXPECT_NEAR(out[1], 0.0f, 1e-34f);
  EXPECT_EQ(out[2], 88.5f);
  EXPECT_NEAR(out[3], 0.0f, 1e-36f);
}

TEST_P(RowKernelTest, ToBf16RoundsToNearestEven) {
  std::vector<float> in = RandomFloats(1001, 10, 100.0f);
  // Ties to even both ways, the largest finite number, subnormals, zeros, infinity.
  for (float value : {1.00390625f, 1.01171875f, 3.4028235e38f, 1e-40f, -3e-39f, 0.0f, -0.0f, kInfinity, -kInfinity}) {
    in.push_back(value);
  }
  std::vector<uint16_t> out(in.size() + 1);
  kernels().to_bf16(in.data(), static_cast<int>(in.size()), out.data());
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], Bits(RoundToBf16(in[i])) >> 16) << in[i];
}

TEST_P(RowKernelTest, ToBf16KeepsNaN) {
  const float in = std::bit_cast<float>(0x7f800001u);  // the fraction's set bit is one that rounding drops
  uint16_t out[2];
  kernels().to_bf16(&in, 1, out);
  EXPECT_GT(out[0] & 0x7fff, 0x7f80);
}

TEST_P(RowKernelTest, ToBf16PadsAnOddCountWithZeroAndWritesNoFurther) {
  for (int count : {1, 15, 16, 17, 33}) {
    const std::vector<float> in = RandomFloats(count, 11);
    std::vector<uint16_t> out(count + 3, 0xabcd);
    kernels().to_bf16(in.data(), count, out.data());
    if (count % 2 != 0) {
      EXPECT_EQ(out[count], 0);
    }
    EXPECT_EQ(out[count + count % 2], 0xabcd);
  }
}

TEST_P(RowKernelTest, QuantizeIsWithinHalfAStep) {
  const int count = 32 * 9;
  const std::vector<float> in = RandomFloats(count, 12, 5.0f);
  std::vector<int8_t> values(count);
  std::vector<float> scales(count / 32);
  std::vector<int32_t> sums(count / 32);
  kernels().quantize(in.data(), count, {values.data(), scales.data(), sums.data()});
  for (int block = 0; block < count / 32; ++block) {
    int sum = 0;
    for (int i = block * 32; i < (block + 1) * 32; ++i) {
      // Half a step, and the roundings of the scale and of its inverse at the largest value, 127 steps.
      ASSERT_NEAR(values[i] * double{scales[block]}, in[i], scales[block] * (0.5 + 127 * 4 * kUnit));
      sum += values[i];
    }
    EXPECT_EQ(sums[block], sum);
  }
}

TEST_P(RowKernelTest, QuantizeOfZerosTinyAndNaN) {
  std::vector<float> in(32 * 4, 0.0f);
  in[32] = 1e-40f;
  in[64 + 5] = NAN;
  in[96 + 7] = kInfinity;
  std::vector<int8_t> values(in.size(), 99);
  float scales[4];
  int32_t sums[4];
  kernels().quantize(in.data(), static_cast<int>(in.size()), {values.data(), scales, sums});
  for (int i = 0; i < 64; ++i) EXPECT_EQ(values[i], 0) << i;
  EXPECT_EQ(scales[0], 0.0f);
  EXPECT_EQ(scales[1], 0.0f);
  EXPECT_TRUE(std::isnan(scales[2]));
  EXPECT_TRUE(std::isnan(scales[3]));
  for (int8_t value : values) EXPECT_GE(value, -127);
}

INSTANTIATE_TEST_SUITE_P(AllPaths, RowKernelTest, ::testing::ValuesIn(SupportedInstructionSets()), IsaTestName);

}  // namespace
}  // namespace headstart::kernels::testing
