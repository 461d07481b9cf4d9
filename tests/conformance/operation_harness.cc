#include "tests/conformance/operation_harness.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

// Reports the first few places that differ, not thousands.
class Differences {
 public:
  void Add(int row, int col, float actual, float expected, double allowed) {
    if (++count_ <= 5) {
      ADD_FAILURE() << "row " << row << " col " << col << ": is " << actual << ", should be " << expected << " within "
                    << allowed;
    }
  }
  ~Differences() {
    if (count_ > 5) ADD_FAILURE() << "and " << count_ - 5 << " more places";
  }

 private:
  int count_ = 0;
};

}  // namespace

Rows RandomRows(int rows, int cols, uint32_t seed) {
  return {.rows = rows, .cols = cols, .values = RandomValues(int64_t{rows} * cols, seed)};
}

Activations OperationHarness::Upload(const Rows& rows) {
  const TensorView view = {.name = "rows",
                           .dtype = DType::kF32,
                           .shape = {rows.rows, rows.cols},
                           .bytes = std::as_bytes(std::span(rows.values))};
  const std::unique_ptr<Matrix> table = Load({&view, 1});
  const Activations out = backend_->NewActivations(rows.rows, rows.cols).value();
  BeginPlainStep(rows.rows);
  backend_->Embed(*table, out);
  return out;
}

Activations OperationHarness::New(int rows, int cols) {
  Rows nans = {.rows = rows, .cols = cols, .values = {}};
  nans.values.assign(static_cast<size_t>(rows) * cols, std::numeric_limits<float>::quiet_NaN());
  return Upload(nans);
}

Rows OperationHarness::Download(Activations activations) {
  Rows rows = {.rows = activations.rows, .cols = activations.cols, .values = {}};
  for (int row = 0; row < activations.rows; ++row) {
    const std::span<const float> values = backend_->ReadRow(activations, row);
    rows.values.insert(rows.values.end(), values.begin(), values.end());
  }
  return rows;
}

std::unique_ptr<Matrix> OperationHarness::Load(std::span<const TensorView> stacked) {
  return backend_->LoadMatrix(stacked).value();
}

std::unique_ptr<Vector> OperationHarness::LoadVector(std::span<const float> values) {
  const TensorView view = {.name = "vector",
                           .dtype = DType::kF32,
                           .shape = {static_cast<int64_t>(values.size())},
                           .bytes = std::as_bytes(values)};
  return backend_->LoadVector({&view, 1}).value();
}

void OperationHarness::BeginPlainStep(int tokens, int first) {
  std::vector<TokenId> ids;
  for (int i = 0; i < first + tokens; ++i) ids.push_back(TokenId{i < first ? 0 : i - first});
  std::vector<SlotIndex> slots;
  for (int i = 0; i < first + tokens; ++i) slots.push_back(SlotIndex{static_cast<uint32_t>(i)});
  BatchBuilder builder;
  builder.Add({.tokens = ids, .first = first, .count = tokens, .slots = slots});
  BeginStep(builder);
}

void OperationHarness::BeginStep(const BatchBuilder& builder) {
  builder_ = builder;
  batch_ = builder_.batch();
  backend_->BeginStep(batch_);
}

void ExpectNear(const Rows& actual, const Rows& expected, const Tolerance& tolerance) {
  ASSERT_EQ(actual.rows, expected.rows);
  ASSERT_EQ(actual.cols, expected.cols);
  Differences differences;
  for (int row = 0; row < expected.rows; ++row) {
    for (int col = 0; col < expected.cols; ++col) {
      const double allowed = tolerance(row, col);
      const float difference = std::fabs(actual.at(row, col) - expected.at(row, col));
      if (!(difference <= allowed)) differences.Add(row, col, actual.at(row, col), expected.at(row, col), allowed);
    }
  }
}

void ExpectEqual(const Rows& actual, const Rows& expected) {
  ExpectNear(actual, expected, [](int, int) { return 0.0; });
}

}  // namespace headstart::testing
