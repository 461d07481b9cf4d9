// RaggedBatch: the tokens of one step, of any number of sequences, laid end to end. Cold prefill, a chunk of one,
// prefill of a suffix after a cache hit, and decode are the same batch with other numbers: "skip prefill" is a longer
// context with fewer tokens.
//
// Thread-safety: a plain value of views; what it views outlives the step.
//
// Example, block size 16: sequence A decodes its 40th token, sequence B prefills 3 tokens after 32 cached ones.
//   tokens = {a39, b32, b33, b34}   positions = {39, 32, 33, 34}   sequence_starts = {0, 1, 4}
//   context_lengths = {40, 35}      block_tables = {s7, s2, s9,  s4, s5, s8}   block_table_starts = {0, 3, 6}
//   logit_rows = {0, 3}

#ifndef HEADSTART_ENGINE_BACKEND_BATCH_H_
#define HEADSTART_ENGINE_BACKEND_BATCH_H_

#include <cstdint>
#include <span>

#include "prefix_store/types.h"

namespace headstart {

struct RaggedBatch {
  std::span<const TokenId> tokens;              // [tokens]
  std::span<const int32_t> positions;           // [tokens]: each token's place in its sequence, from 0
  std::span<const int32_t> sequence_starts;     // [sequences + 1]: offsets into tokens
  std::span<const int32_t> context_lengths;     // [sequences]: tokens in the context after this step
  std::span<const SlotIndex> block_tables;      // each sequence's slots in token order, laid end to end
  std::span<const int32_t> block_table_starts;  // [sequences + 1]: offsets into block_tables
  std::span<const int32_t> logit_rows;          // offsets into tokens whose logits are wanted, ascending

  int num_tokens() const { return static_cast<int>(tokens.size()); }
  int num_sequences() const { return static_cast<int>(context_lengths.size()); }
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_BATCH_H_
