#include "engine/backend/cpu/linear.h"

#include <algorithm>

#include "engine/backend/cpu/parallel.h"
#include "kernels/cpu/packed_weights.h"

namespace headstart {
namespace {

using kernels::Epilogue;
using kernels::LinearCall;
using kernels::WeightFormat;

// Prepared rows start on cache lines and one line apart from a multiple of 4 KiB, so that the rows of a tile do not
// compete for the same sets of the first-level cache.
constexpr ptrdiff_t kLine = 64;
ptrdiff_t PaddedStride(ptrdiff_t bytes) { return (bytes + kLine - 1) / kLine * kLine + kLine; }

}  // namespace

LinearRunner::Prepared LinearRunner::PrepareBf16(Activations in) {
  const ptrdiff_t stride = PaddedStride(ptrdiff_t{in.cols} * 2);
  uint16_t* rows = bf16_.Reserve(static_cast<size_t>(in.rows) * stride / 2);
  ForRows(pool_, in.rows, in.cols, [&](int row, int) {
    kernels_.to_bf16(in.data + int64_t{row} * in.stride, in.cols, rows + row * (stride / 2));
  });
  return {reinterpret_cast<const std::byte*>(rows), stride};
}

LinearRunner::Prepared LinearRunner::PrepareQuantized(Activations in) {
  const ptrdiff_t stride = PaddedStride(in.cols);
  const int blocks = in.cols / kernels::kQuantBlock;
  int8_t* rows = quantized_.Reserve(static_cast<size_t>(in.rows) * stride);
  float* scales = scales_.Reserve(static_cast<size_t>(in.rows) * blocks);
  int32_t* sums = sums_.Reserve(static_cast<size_t>(in.rows) * blocks);
  ForRows(pool_, in.rows, in.cols, [&](int row, int) {
    const int64_t first_block = int64_t{row} * blocks;
    kernels_.quantize(in.data + int64_t{row} * in.stride, in.cols,
                      {rows + row * stride, scales + first_block, sums + first_block});
  });
  return {reinterpret_cast<const std::byte*>(rows), stride};
}

LinearRunner::Prepared LinearRunner::Prepare(Activations in, WeightFormat format) {
  if (format == WeightFormat::kBf16) return PrepareBf16(in);
  if (format == WeightFormat::kQ8_0) return PrepareQuantized(in);
  return {reinterpret_cast<const std::byte*>(in.data), ptrdiff_t{in.stride} * 4};
}

void LinearRunner::Run(Activations in, const CpuMatrix& weight, Epilogue epilogue, const float* bias, Activations out) {
  Prepared inputs[kernels::kWeightFormats] = {};
  for (const PackedPart& part : weight.parts()) {
    Prepared& input = inputs[static_cast<int>(part.format)];
    if (input.data == nullptr) input = Prepare(in, part.format);
  }
  LinearCall shape = {};
  shape.k = in.cols;
  shape.rows = in.rows;
  shape.input_scales = scales_.data();
  shape.input_sums = sums_.data();
  shape.out = out.data;
  shape.out_stride = out.stride;
  shape.epilogue = epilogue;
  shape.bias = bias;
  const int pieces = std::min(weight.groups(), pool_.threads() * kPiecesPerThread);
  ForPieces(pool_, weight.groups(), pieces,
            [&](int first, int last, int) { RunGroups(weight, first, last, shape, inputs); });
}

// Groups first .. last − 1 of the whole matrix, part by part.
void LinearRunner::RunGroups(const CpuMatrix& weight, int first_group, int last_group, const LinearCall& shape,
                             const Prepared* inputs) const {
  for (const PackedPart& part : weight.parts()) {
    const int first = std::max(first_group - part.first_group, 0);
    const int last = std::min(last_group - part.first_group, part.groups);
    if (first >= last) continue;
    const Prepared& input = inputs[static_cast<int>(part.format)];
    const int first_column = first * kernels::kGroupOutputs;
    LinearCall call = shape;
    call.weights = part.memory.data() + first * kernels::GroupBytes(part.format, shape.k);
    call.columns = std::min(last * kernels::kGroupOutputs, part.outputs) - first_column;
    call.input = input.data;
    call.input_stride = input.stride;
    call.out = shape.out + part.first_output + first_column;
    if (shape.bias != nullptr) call.bias = shape.bias + part.first_output + first_column;
    kernels_.linear[static_cast<int>(part.format)](call);
  }
}

}  // namespace headstart
