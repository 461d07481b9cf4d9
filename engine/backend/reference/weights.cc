#include "engine/backend/reference/weights.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "engine/backend/reference/allocate.h"
#include "fmt/format.h"
#include "kernels/reference/number_formats.h"

namespace headstart {
namespace {

namespace reference = kernels::reference;

int64_t Count(const TensorView& tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.shape) count *= size;
  return count;
}

void Decode(const TensorView& tensor, float* out) {
  const std::byte* bytes = tensor.bytes.data();
  const int64_t count = Count(tensor);
  switch (tensor.dtype) {
    case DType::kF32:
      return reference::DecodeF32(bytes, count, out);
    case DType::kF16:
      return reference::DecodeF16(bytes, count, out);
    case DType::kBF16:
      return reference::DecodeBf16(bytes, count, out);
    case DType::kQ8_0:
      return reference::DecodeQ8_0(bytes, count, out);
  }
}

int64_t ExpectedBytes(const TensorView& tensor) {
  const int64_t count = Count(tensor);
  switch (tensor.dtype) {
    case DType::kF32:
      return count * 4;
    case DType::kF16:
    case DType::kBF16:
      return count * 2;
    case DType::kQ8_0:
      return tensor.shape.back() % 32 == 0 ? count / 32 * 34 : -1;
  }
  return -1;
}

absl::Status Check(const TensorView& tensor, size_t dimensions) {
  if (tensor.shape.size() != dimensions) {
    return absl::InvalidArgumentError(
        fmt::format("{}: has {} dimensions where {} are needed", tensor.name, tensor.shape.size(), dimensions));
  }
  if (const int64_t expected = ExpectedBytes(tensor); static_cast<int64_t>(tensor.bytes.size()) != expected) {
    return absl::InvalidArgumentError(
        fmt::format("{}: holds {} bytes where its shape needs {}", tensor.name, tensor.bytes.size(), expected));
  }
  return absl::OkStatus();
}

std::string NameOf(std::span<const TensorView> tensors) {
  std::string name;
  for (const TensorView& tensor : tensors) name += (name.empty() ? "" : " + ") + tensor.name;
  return name;
}

absl::Status DecodeJoined(std::span<const TensorView> tensors, int64_t count, std::unique_ptr<float[]>& out) {
  absl::StatusOr<std::unique_ptr<float[]>> values = AllocateArray<float>(count, 1, NameOf(tensors));
  if (!values.ok()) return values.status();
  out = *std::move(values);
  float* next = out.get();
  for (const TensorView& tensor : tensors) {
    Decode(tensor, next);
    next += Count(tensor);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReferenceMatrix>> DecodeReferenceMatrix(std::span<const TensorView> stacked) {
  auto matrix = std::make_unique<ReferenceMatrix>();
  for (const TensorView& tensor : stacked) {
    if (absl::Status status = Check(tensor, 2); !status.ok()) return status;
    if (tensor.shape[1] != stacked[0].shape[1]) {
      return absl::InvalidArgumentError(fmt::format("{}: takes {} inputs where {} takes {}", tensor.name,
                                                    tensor.shape[1], stacked[0].name, stacked[0].shape[1]));
    }
    matrix->out += static_cast<int>(tensor.shape[0]);
    matrix->in = static_cast<int>(tensor.shape[1]);
  }
  if (absl::Status status = DecodeJoined(stacked, int64_t{matrix->out} * matrix->in, matrix->values); !status.ok()) {
    return status;
  }
  return matrix;
}

absl::StatusOr<std::unique_ptr<ReferenceVector>> DecodeReferenceVector(std::span<const TensorView> joined) {
  auto vector = std::make_unique<ReferenceVector>();
  for (const TensorView& tensor : joined) {
    if (absl::Status status = Check(tensor, 1); !status.ok()) return status;
    vector->count += static_cast<int>(tensor.shape[0]);
  }
  if (absl::Status status = DecodeJoined(joined, vector->count, vector->values); !status.ok()) return status;
  return vector;
}

}  // namespace headstart
