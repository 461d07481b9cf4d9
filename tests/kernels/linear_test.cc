#include <cmath>
#include <cstring>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/packed_weights.h"
#include "tests/kernels/kernel_test_data.h"

namespace headstart::kernels::testing {
namespace {

std::vector<std::byte> Pack(const FileWeights& weights) {
  const int64_t group_bytes = GroupBytes(weights.format, weights.k);
  std::vector<std::byte> packed(GroupCount(weights.rows) * group_bytes);
  for (int64_t group = 0; group < GroupCount(weights.rows); ++group) {
    PackGroup(weights.format, weights.bytes.data(), weights.rows, weights.k, group,
              packed.data() + group * group_bytes);
  }
  return packed;
}

// Rows in the form that a format's kernel takes, and what they stand for.
struct Inputs {
  std::vector<std::byte> bytes;
  ptrdiff_t stride = 0;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<float> values;  // [rows, k]
};

Inputs PrepareBf16(const KernelTable& kernels, const std::vector<float>& rows, int count, int k) {
  Inputs inputs;
  inputs.stride = (k + 1) / 2 * 4;
  inputs.bytes.resize(count * inputs.stride);
  for (int row = 0; row < count; ++row) {
    kernels.to_bf16(rows.data() + row * k, k, reinterpret_cast<uint16_t*>(inputs.bytes.data() + row * inputs.stride));
  }
  for (float value : rows) inputs.values.push_back(RoundToBf16(value));
  return inputs;
}

Inputs PrepareQuantized(const KernelTable& kernels, const std::vector<float>& rows, int count, int k) {
  Inputs inputs;
  const int blocks = k / kQuantBlock;
  inputs.stride = k;
  inputs.bytes.resize(count * k);
  inputs.scales.resize(count * blocks);
  inputs.sums.resize(count * blocks);
  auto* values = reinterpret_cast<int8_t*>(inputs.bytes.data());
  for (int row = 0; row < count; ++row) {
    kernels.quantize(rows.data() + row * k, k,
                     {values + row * k, inputs.scales.data() + row * blocks, inputs.sums.data() + row * blocks});
  }
  for (int i = 0; i < count * k; ++i) inputs.values.push_back(values[i] * inputs.scales[i / kQuantBlock]);
  return inputs;
}

Inputs Prepare(const KernelTable& kernels, WeightFormat format, const std::vector<float>& rows, int count, int k) {
  if (format == WeightFormat::kBf16) return PrepareBf16(kernels, rows, count, k);
  if (format == WeightFormat::kQ8_0) return PrepareQuantized(kernels, rows, count, k);
  Inputs inputs;
  inputs.stride = k * 4;
  inputs.bytes.resize(count * inputs.stride);
  std::memcpy(inputs.bytes.data(), rows.data(), inputs.bytes.size());
  inputs.values = rows;
  return inputs;
}

LinearCall CallFor(const FileWeights& weights, const std::vector<std::byte>& packed, const Inputs& inputs, int rows,
                   std::vector<float>& out) {
  LinearCall call = {};
  call.weights = packed.data();
  call.columns = weights.rows;
  call.k = weights.k;
  call.input = inputs.bytes.data();
  call.input_stride = inputs.stride;
  call.input_scales = inputs.scales.data();
  call.input_sums = inputs.sums.data();
  call.rows = rows;
  call.out = out.data();
  call.out_stride = weights.rows;
  call.epilogue = Epilogue::kStore;
  return call;
}

struct Shape {
  WeightFormat format;
  int rows, columns, k;
};

class LinearKernelTest : public ::testing::TestWithParam<std::tuple<InstructionSet, Shape>> {
 protected:
  const KernelTable& kernels() const { return KernelsFor(std::get<0>(GetParam())); }
  const Shape& shape() const { return std::get<1>(GetParam()); }
};

// Every partial sum of n terms, each rounded once, is off by at most n · u · Σ|a·b| (Higham, 3.1); a product that is
// rounded apart adds one more rounding a term, int8 blocks three (the scale's product, its product with the sum, the
// addition).
TEST_P(LinearKernelTest, MatchesDoublePrecision) {
  const auto [format, rows, columns, k] = shape();
  const FileWeights weights = RandomWeights(format, columns, k, 1);
  const std::vector<std::byte> packed = Pack(weights);
  const Inputs inputs = Prepare(kernels(), format, RandomFloats(rows * k, 2), rows, k);
  std::vector<float> out(rows * columns, NAN);
  kernels().linear[static_cast<int>(format)](CallFor(weights, packed, inputs, rows, out));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      double sum = 0, magnitude = 0;
      for (int i = 0; i < k; ++i) {
        const double product = double{inputs.values[row * k + i]} * weights.values[column * k + i];
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(out[row * columns + column], sum, (k + 4) * kUnit * magnitude) << row << ", " << column;
    }
  }
}

TEST_P(LinearKernelTest, EveryRowHasTheBitsItHasAlone) {
  const auto [format, rows, columns, k] = shape();
  const FileWeights weights = RandomWeights(format, columns, k, 3);
  const std::vector<std::byte> packed = Pack(weights);
  const std::vector<float> values = RandomFloats(rows * k, 4);
  const Inputs inputs = Prepare(kernels(), format, values, rows, k);
  std::vector<float> out(rows * columns), alone(columns);
  kernels().linear[static_cast<int>(format)](CallFor(weights, packed, inputs, rows, out));
  for (int row = 0; row < rows; ++row) {
    const std::vector<float> one(values.begin() + row * k, values.begin() + (row + 1) * k);
    const Inputs input = Prepare(kernels(), format, one, 1, k);
    kernels().linear[static_cast<int>(format)](CallFor(weights, packed, input, 1, alone));
    for (int column = 0; column < columns; ++column) {
      ASSERT_EQ(Bits(out[row * columns + column]), Bits(alone[column])) << row << ", " << column;
    }
  }
}

TEST_P(LinearKernelTest, EpiloguesAddOnceToTheFinishedSum) {
  const auto [format, rows, columns, k] = shape();
  const FileWeights weights = RandomWeights(format, columns, k, 5);
  const std::vector<std::byte> packed = Pack(weights);
  const Inputs inputs = Prepare(kernels(), format, RandomFloats(rows * k, 6), rows, k);
  const std::vector<float> bias = RandomFloats(columns, 7);
  const std::vector<float> before = RandomFloats(rows * columns, 8);
  std::vector<float> plain(rows * columns), biased(rows * columns), added = before;
  const auto linear = kernels().linear[static_cast<int>(format)];
  linear(CallFor(weights, packed, inputs, rows, plain));
  LinearCall call = CallFor(weights, packed, inputs, rows, biased);
  call.epilogue = Epilogue::kAddBias;
  call.bias = bias.data();
  linear(call);
  call = CallFor(weights, packed, inputs, rows, added);
  call.epilogue = Epilogue::kAddToOutput;
  linear(call);
  for (int i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(Bits(biased[i]), Bits(plain[i] + bias[i % columns])) << i;
    ASSERT_EQ(Bits(added[i]), Bits(plain[i] + before[i])) << i;
  }
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (WeightFormat format : {WeightFormat::kBf16, WeightFormat::kF32, WeightFormat::kF16}) {
    for (int rows = 1; rows <= 13; ++rows) shapes.push_back({format, rows, 160, 34});
    shapes.push_back({format, 3, 1, 1});
    shapes.push_back({format, 2, 17, 7});
    shapes.push_back({format, 5, 100, 33});
    shapes.push_back({format, 29, 47, 129});
    shapes.push_back({format, 25, 96, 8192});  // groups larger than a cache block
  }
  for (int rows = 1; rows <= 13; ++rows) shapes.push_back({WeightFormat::kQ8_0, rows, 160, 64});
  shapes.push_back({WeightFormat::kQ8_0, 3, 1, 32});
  shapes.push_back({WeightFormat::kQ8_0, 29, 47, 288});
  shapes.push_back({WeightFormat::kQ8_0, 17, 96, 16384});
  return shapes;
}

std::string ShapeName(const ::testing::TestParamInfo<std::tuple<InstructionSet, Shape>>& info) {
  constexpr const char* kFormats[] = {"bf16", "f32", "f16", "q8_0"};
  const auto& [isa, shape] = info.param;
  return std::string(InstructionSetName(isa)) + "_" + kFormats[static_cast<int>(shape.format)] + "_" +
         std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + "x" + std::to_string(shape.k);
}

INSTANTIATE_TEST_SUITE_P(AllPaths, LinearKernelTest,
                         ::testing::Combine(::testing::ValuesIn(SupportedInstructionSets()),
                                            ::testing::ValuesIn(Shapes())),
                         ShapeName);

class PackedWeightsTest : public ::testing::TestWithParam<WeightFormat> {};

TEST_P(PackedWeightsTest, RowsComeBackExactly) {
  const FileWeights weights = RandomWeights(GetParam(), 70, 96, 9);
  const std::vector<std::byte> packed = Pack(weights);
  std::vector<float> row(weights.k);
  for (int output = 0; output < weights.rows; ++output) {
    UnpackRow(weights.format, packed.data(), weights.k, output, row.data());
    for (int i = 0; i < weights.k; ++i) ASSERT_EQ(Bits(row[i]), Bits(weights.values[output * weights.k + i]));
  }
}

TEST_P(PackedWeightsTest, VectorsDecodeExactly) {
  const FileWeights weights = RandomWeights(GetParam(), 1, 96, 10);
  std::vector<float> decoded(weights.k);
  DecodeWeights(weights.format, weights.bytes.data(), weights.k, decoded.data());
  EXPECT_THAT(decoded, ::testing::ElementsAreArray(weights.values));
}

INSTANTIATE_TEST_SUITE_P(Formats, PackedWeightsTest,
                         ::testing::Values(WeightFormat::kBf16, WeightFormat::kF32, WeightFormat::kF16,
                                           WeightFormat::kQ8_0));

}  // namespace
}  // namespace headstart::kernels::testing
