#include "tests/engine/backend/cpu_harness.h"

#include <algorithm>
#include <numeric>

namespace headstart::testing {
namespace {

DType DTypeOf(kernels::WeightFormat format) {
  switch (format) {
    case kernels::WeightFormat::kBf16:
      return DType::kBF16;
    case kernels::WeightFormat::kF32:
      return DType::kF32;
    case kernels::WeightFormat::kF16:
      return DType::kF16;
    case kernels::WeightFormat::kQ8_0:
      return DType::kQ8_0;
  }
  return DType::kF32;
}

}  // namespace

std::unique_ptr<Backend> MakeBackend(kernels::InstructionSet isa, int threads) {
  return NewCpuBackend({.threads = threads, .isa = isa}).value();
}

TensorView TensorOf(const kernels::testing::FileWeights& weights) {
  return {"test", DTypeOf(weights.format), {weights.rows, weights.k}, weights.bytes};
}

Activations Upload(Backend& backend, const std::vector<float>& values, int rows, int cols) {
  const Activations activations = backend.NewActivations(rows, cols).value();
  for (int row = 0; row < rows; ++row) {
    std::copy_n(values.data() + int64_t{row} * cols, cols, activations.data + int64_t{row} * activations.stride);
  }
  return activations;
}

std::vector<float> Download(Activations activations) {
  std::vector<float> values;
  for (int row = 0; row < activations.rows; ++row) {
    const float* data = activations.data + int64_t{row} * activations.stride;
    values.insert(values.end(), data, data + activations.cols);
  }
  return values;
}

std::vector<uint32_t> AllBits(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (float value : values) bits.push_back(kernels::testing::Bits(value));
  return bits;
}

SlotDealer::SlotDealer(int slots, uint32_t seed) {
  for (int slot = 0; slot < slots; ++slot) free_.push_back(SlotIndex{static_cast<uint32_t>(slot)});
  std::shuffle(free_.begin(), free_.end(), std::mt19937(seed));
}

std::vector<SlotIndex> SlotDealer::Deal(int count) {
  std::vector<SlotIndex> dealt(free_.end() - count, free_.end());
  free_.resize(free_.size() - count);
  return dealt;
}

OwnedBatch::OwnedBatch(const std::vector<Chunk>& chunks) {
  for (const Chunk& chunk : chunks) {
    for (int token = 0; token < chunk.count; ++token) positions_.push_back(chunk.start + token);
    sequence_starts_.push_back(static_cast<int32_t>(positions_.size()));
    context_lengths_.push_back(chunk.start + chunk.count);
    block_tables_.insert(block_tables_.end(), chunk.slots->begin(), chunk.slots->end());
    block_table_starts_.push_back(static_cast<int32_t>(block_tables_.size()));
  }
  tokens_.resize(positions_.size());
  view_ = {tokens_, positions_, sequence_starts_, context_lengths_, block_tables_, block_table_starts_, {}};
}

}  // namespace headstart::testing
