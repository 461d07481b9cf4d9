// Linear and LinearAdd of every backend against the definition, for each weight dtype.

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/operation_harness.h"
#include "tests/conformance/rounding.h"

namespace headstart::testing {
namespace {

constexpr int kQuantBlock = 32;

// Standard deviation, times √3, of what a backend may do to input k of a row before it multiplies: bf16 weights may
// meet bf16 inputs, Q8_0 weights inputs in 8 bits per block of 32 (half a step of the block's largest / 127). Others
// meet them as they are.
double InputError(DType weights, const float* input, int k) {
  if (weights == DType::kBF16) return kBf16Unit * std::fabs(input[k]);
  if (weights != DType::kQ8_0) return 0;
  float largest = 0;
  const int block = k / kQuantBlock * kQuantBlock;
  for (int i = block; i < block + kQuantBlock; ++i) largest = std::max(largest, std::fabs(input[i]));
  return largest / 127 / 2;
}

struct Sum {
  double value = 0;
  double tolerance = 0;
};

Sum Dot(DType dtype, const float* input, const float* weight, int size) {
  double sum = 0;
  double magnitude = 0;
  double input_variance = 0;
  for (int k = 0; k < size; ++k) {
    const double term = double{input[k]} * weight[k];
    const double error = InputError(dtype, input, k) * weight[k];
    sum += term;
    magnitude += std::fabs(term);
    input_variance += error * error;
  }
  // Each of the size additions and products rounds once; the last terms are the epilogue's.
  return {.value = sum,
          .tolerance = kSixDeviations * std::sqrt(input_variance) + (size + 4) * kF32Unit * (magnitude + 1)};
}

struct Shape {
  int rows;
  int in;
  std::vector<int> outs;  // of the stacked matrices
};

class LinearTest : public ::testing::TestWithParam<std::tuple<BackendCase, DType>> {
 protected:
  DType dtype() const { return std::get<1>(GetParam()); }

  void SetUpShape(const Shape& shape) {
    harness_ = std::make_unique<OperationHarness>(std::get<0>(GetParam()).create(2));
    input_ = RandomRows(shape.rows, shape.in, 1);
    tensors_.clear();
    weights_.clear();
    for (int out : shape.outs) {
      tensors_.emplace_back(dtype(), std::vector<int64_t>{out, shape.in}, static_cast<uint32_t>(10 + out));
      weights_.insert(weights_.end(), tensors_.back().values().begin(), tensors_.back().values().end());
    }
    std::vector<TensorView> views;
    for (const RandomTensor& tensor : tensors_) views.push_back(tensor.view());
    matrix_ = harness_->Load(views);
  }

  int out_size() const { return matrix_->out_features(); }

  // The expected outputs, with `start` added, and their tolerances.
  void Expect(const Rows& actual, const std::function<double(int row, int out)>& start) {
    Rows expected = {.rows = input_.rows, .cols = out_size(), .values = {}};
    std::vector<double> tolerances;
    for (int row = 0; row < input_.rows; ++row) {
      for (int out = 0; out < out_size(); ++out) {
        const Sum sum = Dot(dtype(), input_.row(row), weights_.data() + int64_t{out} * input_.cols, input_.cols);
        expected.values.push_back(static_cast<float>(sum.value + start(row, out)));
        tolerances.push_back(sum.tolerance);
      }
    }
    ExpectNear(actual, expected,
               [&](int row, int out) { return tolerances[static_cast<size_t>(row) * out_size() + out]; });
  }

  std::unique_ptr<OperationHarness> harness_;
  Rows input_;
  std::vector<RandomTensor> tensors_;
  std::vector<float> weights_;
  std::unique_ptr<Matrix> matrix_;
};

// One row and many, tiles full and not, outputs and inputs that are no multiple of any lane width (Q8_0 asks for 32 of
// inputs).
std::vector<Shape> Shapes(DType dtype) {
  std::vector<Shape> shapes = {{1, 64, {32}},    {2, 32, {1}},   {5, 96, {33, 7, 7}},
                               {13, 256, {100}}, {70, 64, {65}}, {1, 1024, {40}}};
  if (dtype != DType::kQ8_0) shapes.insert(shapes.end(), {{3, 1, {5}}, {4, 37, {50, 3}}, {25, 111, {31}}});
  return shapes;
}

TEST_P(LinearTest, SizesAreThoseOfTheStackedMatrices) {
  SetUpShape({2, 64, {33, 7, 8}});
  EXPECT_EQ(matrix_->out_features(), 48);
  EXPECT_EQ(matrix_->in_features(), 64);
}

TEST_P(LinearTest, IsTheDefinition) {
  for (const Shape& shape : Shapes(dtype())) {
    SCOPED_TRACE(::testing::Message() << shape.rows << " rows, " << shape.in << " inputs");
    SetUpShape(shape);
    const Activations out = harness_->New(shape.rows, out_size());
    harness_->backend().Linear(harness_->Upload(input_), *matrix_, nullptr, out);
    Expect(harness_->Download(out), [](int, int) { return 0; });
  }
}

TEST_P(LinearTest, WithBiasIsTheDefinition) {
  for (const Shape& shape : Shapes(dtype())) {
    SCOPED_TRACE(::testing::Message() << shape.rows << " rows, " << shape.in << " inputs");
    SetUpShape(shape);
    const std::vector<float> bias = RandomValues(out_size(), 3);
    const Activations out = harness_->New(shape.rows, out_size());
    harness_->backend().Linear(harness_->Upload(input_), *matrix_, harness_->LoadVector(bias).get(), out);
    Expect(harness_->Download(out), [&](int, int o) { return double{bias[static_cast<size_t>(o)]}; });
  }
}

TEST_P(LinearTest, AddAddsToWhatIsThere) {
  for (const Shape& shape : Shapes(dtype())) {
    SCOPED_TRACE(::testing::Message() << shape.rows << " rows, " << shape.in << " inputs");
    SetUpShape(shape);
    const Rows before = RandomRows(shape.rows, out_size(), 4);
    const Activations out = harness_->Upload(before);
    harness_->backend().LinearAdd(harness_->Upload(input_), *matrix_, out);
    Expect(harness_->Download(out), [&](int row, int o) { return double{before.at(row, o)}; });
  }
}

// A row's bits are the same alone and among others, wherever it lies.
TEST_P(LinearTest, RowsDoNotKnowOfEachOther) {
  SetUpShape({70, 256, {97}});
  const Activations many = harness_->New(70, out_size());
  harness_->backend().Linear(harness_->Upload(input_), *matrix_, nullptr, many);
  const Rows all = harness_->Download(many);
  for (int rows : {1, 2, 3, 5, 12, 13, 31}) {
    for (int first : {0, 1, 39}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows from " << first);
      Rows some = {.rows = rows, .cols = 256, .values = {}};
      some.values.assign(input_.row(first), input_.row(first) + rows * 256);
      const Activations out = harness_->New(rows, out_size());
      harness_->backend().Linear(harness_->Upload(some), *matrix_, nullptr, out);
      Rows expected = {.rows = rows, .cols = out_size(), .values = {}};
      expected.values.assign(all.row(first), all.row(first) + rows * out_size());
      ExpectEqual(harness_->Download(out), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, LinearTest,
                         ::testing::Combine(::testing::ValuesIn(AllBackends()),
                                            ::testing::Values(DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" + NameOf(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace headstart::testing
