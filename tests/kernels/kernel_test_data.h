// Inputs for kernel tests: random numbers, weights in the encodings of model files, and the double-precision sums that
// results are held to.

#ifndef HEADSTART_TESTS_KERNELS_KERNEL_TEST_DATA_H_
#define HEADSTART_TESTS_KERNELS_KERNEL_TEST_DATA_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart::kernels::testing {

// Half a unit in the last place of f32, relative: the error of one rounding.
inline constexpr double kUnit = 0x1p-24;

std::vector<float> RandomFloats(size_t count, uint32_t seed, float deviation = 1.0f);

// Weights as a model file has them, and their exact values.
struct FileWeights {
  WeightFormat format;
  int rows;
  int k;
  std::vector<std::byte> bytes;
  std::vector<float> values;  // [rows, k]
};
FileWeights RandomWeights(WeightFormat format, int rows, int k, uint32_t seed);

// To the nearest bf16, ties to even, as a float again. Written apart from the kernels.
float RoundToBf16(float value);

uint32_t Bits(float value);

inline std::string IsaTestName(const ::testing::TestParamInfo<InstructionSet>& info) {
  return std::string(InstructionSetName(info.param));
}

// A suite of KernelTest runs once on each path that this machine has.
class KernelTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const KernelTable& kernels() const { return KernelsFor(GetParam()); }
};

}  // namespace headstart::kernels::testing

#endif  // HEADSTART_TESTS_KERNELS_KERNEL_TEST_DATA_H_
