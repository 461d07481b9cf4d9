// Linear layers of the CPU backend: the kernels' own tests are in tests/kernels; here, that no cut of the work changes
// a bit.

#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cpu_harness.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using kernels::InstructionSet;
using kernels::WeightFormat;
using kernels::testing::FileWeights;
using kernels::testing::RandomFloats;
using kernels::testing::RandomWeights;
using ::testing::HasSubstr;

constexpr WeightFormat kFormats[] = {WeightFormat::kBf16, WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kQ8_0};

class CpuLinearTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  // Rows of `values` times stacked weights, `step` rows at a time.
  std::vector<float> Linear(int threads, const std::vector<FileWeights>& stacked, const std::vector<float>& values,
                            int step) {
    const auto backend = MakeBackend(GetParam(), threads);
    std::vector<TensorView> tensors;
    for (const FileWeights& weights : stacked) tensors.push_back(TensorOf(weights));
    const auto matrix = backend->LoadMatrix(tensors).value();
    const int cols = matrix->in_features(), rows = static_cast<int>(values.size()) / cols;
    std::vector<float> all;
    for (int row = 0; row < rows; row += step) {
      const int count = std::min(step, rows - row);
      const std::vector<float> part(values.begin() + row * cols, values.begin() + (row + count) * cols);
      const Activations out = backend->NewActivations(count, matrix->out_features()).value();
      backend->Linear(Upload(*backend, part, count, cols), *matrix, nullptr, out);
      const std::vector<float> results = Download(out);
      all.insert(all.end(), results.begin(), results.end());
    }
    return all;
  }
};

TEST_P(CpuLinearTest, BitsDoNotDependOnThreadsOrOnHowRowsAreSplit) {
  constexpr int kRows = 37, kInputs = 160;
  const std::vector<float> values = RandomFloats(kRows * kInputs, 1);
  for (WeightFormat format : kFormats) {
    const std::vector<FileWeights> weights = {RandomWeights(format, 333, kInputs, 2)};
    const std::vector<uint32_t> expected = AllBits(Linear(1, weights, values, 1));
    for (int threads : {1, 2, 3, 4}) {
      for (int step : {1, 2, 5, 12, 13, 37}) {
        ASSERT_EQ(AllBits(Linear(threads, weights, values, step)), expected) << threads << " threads, " << step;
      }
    }
  }
}

TEST_P(CpuLinearTest, StackedPartsOfUnequalFormatsEqualThePartsAlone) {
  constexpr int kRows = 5, kInputs = 64;
  const std::vector<float> values = RandomFloats(kRows * kInputs, 3);
  std::vector<FileWeights> stacked;
  int columns = 0;
  for (WeightFormat format : kFormats) {
    stacked.push_back(RandomWeights(format, 20 + columns % 37, kInputs, 4));
    columns += stacked.back().rows;
  }
  const std::vector<float> together = Linear(2, stacked, values, kRows);
  int first = 0;
  for (const FileWeights& part : stacked) {
    const std::vector<float> alone = Linear(2, {part}, values, kRows);
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < part.rows; ++column) {
        ASSERT_EQ(together[row * columns + first + column], alone[row * part.rows + column]);
      }
    }
    first += part.rows;
  }
}

TEST_P(CpuLinearTest, EmbedReadsRowsOfThePackedTable) {
  for (WeightFormat format : kFormats) {
    const FileWeights weights = RandomWeights(format, 70, 96, 5);
    const auto backend = MakeBackend(GetParam(), 2);
    const TensorView tensor = TensorOf(weights);
    const auto table = backend->LoadMatrix({&tensor, 1}).value();
    const std::vector<TokenId> tokens = {TokenId{69}, TokenId{0}, TokenId{33}};
    RaggedBatch batch;
    batch.tokens = tokens;
    backend->BeginStep(batch);
    const Activations out = backend->NewActivations(3, 96).value();
    backend->Embed(*table, out);
    const std::vector<float> rows = Download(out);
    for (int i = 0; i < 3 * 96; ++i) {
      ASSERT_EQ(rows[i], weights.values[ToIndex(tokens[i / 96]) * 96 + i % 96]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllPaths, CpuLinearTest, ::testing::ValuesIn(kernels::SupportedInstructionSets()),
                         kernels::testing::IsaTestName);

TEST(CpuBackendErrorsTest, OptionsOutOfRangeAreNamed) {
  EXPECT_THAT(NewCpuBackend({.threads = -1}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("threads: -1")));
}

TEST(CpuBackendErrorsTest, BadTensorsAreNamed) {
  const auto backend = MakeBackend(kernels::BestInstructionSet(), 1);
  const std::vector<std::byte> bytes(64);
  const auto load = [&](DType dtype, std::vector<int64_t> shape) {
    const TensorView tensor = {"blk.0.attn_q", dtype, std::move(shape), bytes};
    return backend->LoadMatrix({&tensor, 1}).status();
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(load(DType::kF32, {16}), StatusIs(kInvalid, HasSubstr("blk.0.attn_q")));
  EXPECT_THAT(load(DType::kF32, {4, 8}), StatusIs(kInvalid, HasSubstr("holds 64 bytes")));
  EXPECT_THAT(load(DType::kQ8_0, {4, 8}), StatusIs(kInvalid, HasSubstr("multiple of 32")));
  EXPECT_THAT(load(DType::kF32, {-4, -4}), StatusIs(kInvalid, HasSubstr("no shape")));
  EXPECT_THAT(load(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}), StatusIs(kInvalid, HasSubstr("no shape")));
  EXPECT_THAT(load(DType::kF32, {4, 4}), IsOk());
}

TEST(CpuBackendErrorsTest, StackedMatricesTakeTheSameInputs) {
  const auto backend = MakeBackend(kernels::BestInstructionSet(), 1);
  const std::vector<std::byte> bytes(64);
  const std::vector<TensorView> tensors = {{"q", DType::kF32, {4, 4}, bytes}, {"k", DType::kF32, {2, 8}, bytes}};
  EXPECT_THAT(backend->LoadMatrix(tensors), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("k: takes 8")));
  EXPECT_THAT(backend->LoadMatrix({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least one")));
}

TEST(CpuBackendErrorsTest, KvShapesOutOfRangeAreNamed) {
  const auto backend = MakeBackend(kernels::BestInstructionSet(), 1);
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  KvShape shape = {.layers = 1, .kv_heads = 1, .head_dim = 64, .block_tokens = 24};
  EXPECT_THAT(backend->AllocateKv(shape, 4), StatusIs(kInvalid, HasSubstr("block_tokens: 24")));
  shape.block_tokens = 512;
  EXPECT_THAT(backend->AllocateKv(shape, 4), StatusIs(kInvalid, HasSubstr("block_tokens: 512")));
  shape.block_tokens = 16;
  shape.dtype = DType::kQ8_0;
  EXPECT_THAT(backend->AllocateKv(shape, 4), StatusIs(kInvalid, HasSubstr("kv_dtype")));
  shape.dtype = DType::kBF16;
  EXPECT_THAT(backend->AllocateKv(shape, 0), StatusIs(kInvalid, HasSubstr("slots")));
  EXPECT_OK(backend->AllocateKv(shape, 4));
  EXPECT_THAT(backend->AllocateKv(shape, 4), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("once")));
}

}  // namespace
}  // namespace headstart::testing
