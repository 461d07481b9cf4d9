// OperationHarness: puts rows of numbers into a backend's activations and reads them back through the Backend interface
// alone, so that one suite serves backends whose memory the host cannot see.
//
// Thread-safety: none.
//
//   OperationHarness harness(NewReferenceBackend());
//   Activations in = harness.Upload(RandomRows(3, 64, 1));
//   harness.backend().SwiGlu(in, out);
//   Rows result = harness.Download(out);

#ifndef HEADSTART_TESTS_CONFORMANCE_OPERATION_HARNESS_H_
#define HEADSTART_TESTS_CONFORMANCE_OPERATION_HARNESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "tests/testing/batch_builder.h"
#include "tests/testing/random_tensor.h"

namespace headstart::testing {

struct Rows {
  int rows = 0;
  int cols = 0;
  std::vector<float> values;

  float& at(int row, int col) { return values[static_cast<size_t>(row) * cols + col]; }
  float at(int row, int col) const { return values[static_cast<size_t>(row) * cols + col]; }
  const float* row(int index) const { return values.data() + static_cast<size_t>(index) * cols; }
};

Rows RandomRows(int rows, int cols, uint32_t seed);

class OperationHarness {
 public:
  explicit OperationHarness(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  Backend& backend() { return *backend_; }

  // Begins a step of its own: begin the step to be tested after the uploads.
  Activations Upload(const Rows& rows);
  Activations New(int rows, int cols);  // filled with NaN, so that what is not written shows
  Rows Download(Activations activations);

  std::unique_ptr<Matrix> Load(std::span<const TensorView> stacked);
  std::unique_ptr<Vector> LoadVector(std::span<const float> values);

  // One sequence of `tokens` tokens at positions from `first` on, in slots 0, 1, 2 …, as the step.
  void BeginPlainStep(int tokens, int first = 0);
  void BeginStep(const BatchBuilder& builder);

 private:
  std::unique_ptr<Backend> backend_;
  BatchBuilder builder_;
  RaggedBatch batch_;
};

// The difference that is allowed at (row, col).
using Tolerance = std::function<double(int row, int col)>;
void ExpectNear(const Rows& actual, const Rows& expected, const Tolerance& tolerance);
void ExpectEqual(const Rows& actual, const Rows& expected);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_CONFORMANCE_OPERATION_HARNESS_H_
