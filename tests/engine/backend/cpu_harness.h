// Drives a CPU backend with plain vectors: tensors from floats, activations from rows, and sequences laid over random
// blocks.

#ifndef HEADSTART_TESTS_ENGINE_BACKEND_CPU_HARNESS_H_
#define HEADSTART_TESTS_ENGINE_BACKEND_CPU_HARNESS_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/batch.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "tests/kernels/kernel_test_data.h"

namespace headstart::testing {

std::unique_ptr<Backend> MakeBackend(kernels::InstructionSet isa, int threads);

TensorView TensorOf(const kernels::testing::FileWeights& weights);

// Activations that hold `values`, [rows, cols].
Activations Upload(Backend& backend, const std::vector<float>& values, int rows, int cols);
std::vector<float> Download(Activations activations);

std::vector<uint32_t> AllBits(const std::vector<float>& values);

// Random slots for sequences, none used twice, in no order.
class SlotDealer {
 public:
  SlotDealer(int slots, uint32_t seed);
  std::vector<SlotIndex> Deal(int count);

 private:
  std::vector<SlotIndex> free_;
};

// One sequence's share of a step: tokens start .. start + count − 1 of it.
struct Chunk {
  const std::vector<SlotIndex>* slots;
  int start;
  int count;
};

// A batch of chunks together with the memory that it views.
class OwnedBatch {
 public:
  explicit OwnedBatch(const std::vector<Chunk>& chunks);
  const RaggedBatch& view() const { return view_; }

 private:
  std::vector<TokenId> tokens_;
  std::vector<int32_t> positions_, sequence_starts_{0}, context_lengths_, block_table_starts_{0};
  std::vector<SlotIndex> block_tables_;
  RaggedBatch view_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_ENGINE_BACKEND_CPU_HARNESS_H_
