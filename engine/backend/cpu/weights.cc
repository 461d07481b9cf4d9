#include "engine/backend/cpu/weights.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "fmt/format.h"
#include "kernels/cpu/packed_weights.h"

namespace headstart {
namespace {

using kernels::WeightFormat;

WeightFormat FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return WeightFormat::kF32;
    case DType::kF16:
      return WeightFormat::kF16;
    case DType::kBF16:
      return WeightFormat::kBf16;
    case DType::kQ8_0:
      return WeightFormat::kQ8_0;
  }
  return WeightFormat::kF32;
}

// Sizes that int columns and 64-bit byte counts hold with room to spare. A matrix of no rows is one: it does nothing.
bool IsDimension(int64_t size) { return size >= 0 && size <= std::numeric_limits<int32_t>::max() / 64; }

absl::Status CheckTensor(const TensorView& tensor, int64_t rows, int64_t columns) {
  const WeightFormat format = FormatOf(tensor.dtype);
  if (!IsDimension(rows) || !IsDimension(columns) || columns == 0) {
    return absl::InvalidArgumentError(fmt::format("{}: {} x {} is no shape for weights", tensor.name, rows, columns));
  }
  if (format == WeightFormat::kQ8_0 && columns % kernels::kQuantBlock != 0) {
    return absl::InvalidArgumentError(fmt::format("{}: a Q8_0 row holds a multiple of {} weights, not {}", tensor.name,
                                                  kernels::kQuantBlock, columns));
  }
  const int64_t expected = rows * kernels::FileRowBytes(format, columns);
  if (static_cast<int64_t>(tensor.bytes.size()) != expected) {
    return absl::InvalidArgumentError(fmt::format("{}: holds {} bytes where its shape {} x {} needs {}", tensor.name,
                                                  tensor.bytes.size(), rows, columns, expected));
  }
  return absl::OkStatus();
}

absl::Status CheckMatrix(const TensorView& tensor, int64_t inputs) {
  if (tensor.shape.size() != 2) {
    return absl::InvalidArgumentError(
        fmt::format("{}: has {} dimensions where a matrix has 2", tensor.name, tensor.shape.size()));
  }
  if (tensor.shape[1] != inputs) {
    return absl::InvalidArgumentError(fmt::format("{}: takes {} inputs where the matrices stacked with it take {}",
                                                  tensor.name, tensor.shape[1], inputs));
  }
  return CheckTensor(tensor, tensor.shape[0], tensor.shape[1]);
}

absl::StatusOr<PackedPart> PackPart(const TensorView& tensor, ThreadPool& pool) {
  const WeightFormat format = FormatOf(tensor.dtype);
  const int64_t outputs = tensor.shape[0], inputs = tensor.shape[1];
  const int64_t group_bytes = kernels::GroupBytes(format, inputs);
  const int groups = static_cast<int>(kernels::GroupCount(outputs));
  absl::StatusOr<MemoryRegion> memory = MemoryRegion::Allocate(groups * group_bytes, tensor.name);
  if (!memory.ok()) return memory.status();
  std::byte* packed = memory->data();
  pool.ParallelFor(groups, [&](int group, int) {
    kernels::PackGroup(format, tensor.bytes.data(), outputs, inputs, group, packed + group * group_bytes);
  });
  return PackedPart{format, 0, static_cast<int>(outputs), 0, groups, *std::move(memory)};
}

}  // namespace

void CpuMatrix::ReadRow(int output, float* out) const {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const PackedPart& candidate) {
    return output < candidate.first_output + candidate.outputs;
  });
  kernels::UnpackRow(part->format, part->memory.data(), inputs_, output - part->first_output, out);
}

absl::StatusOr<std::unique_ptr<Matrix>> PackMatrix(std::span<const TensorView> stacked, ThreadPool& pool) {
  if (stacked.empty()) return absl::InvalidArgumentError("a matrix is made of at least one tensor");
  const int64_t inputs = stacked[0].shape.size() == 2 ? stacked[0].shape[1] : 0;
  std::vector<PackedPart> parts;
  int64_t outputs = 0;
  int groups = 0;
  for (const TensorView& tensor : stacked) {
    if (absl::Status status = CheckMatrix(tensor, inputs); !status.ok()) return status;
    absl::StatusOr<PackedPart> part = PackPart(tensor, pool);
    if (!part.ok()) return part.status();
    part->first_output = static_cast<int>(outputs);
    part->first_group = groups;
    outputs += part->outputs;
    groups += part->groups;
    if (!IsDimension(outputs)) return CheckTensor(tensor, outputs, inputs);
    parts.push_back(*std::move(part));
  }
  return std::make_unique<CpuMatrix>(static_cast<int>(outputs), static_cast<int>(inputs), std::move(parts));
}

absl::StatusOr<std::unique_ptr<Vector>> DecodeVector(std::span<const TensorView> joined) {
  std::vector<float> values;
  for (const TensorView& tensor : joined) {
    if (tensor.shape.size() != 1) {
      return absl::InvalidArgumentError(
          fmt::format("{}: has {} dimensions where a vector has 1", tensor.name, tensor.shape.size()));
    }
    const int64_t count = tensor.shape[0];
    if (absl::Status status = CheckTensor(tensor, 1, count); !status.ok()) return status;
    const size_t start = values.size();
    values.resize(start + count);
    kernels::DecodeWeights(FormatOf(tensor.dtype), tensor.bytes.data(), count, values.data() + start);
  }
  if (values.empty()) return absl::InvalidArgumentError("a vector is made of at least one tensor");
  return std::make_unique<CpuVector>(std::move(values));
}

}  // namespace headstart
