// BatchBuilder: lays the work of a step out as a RaggedBatch, in memory that is kept from step to step.
//
// Thread-safety: none.
//
//   builder.Clear();
//   builder.Add({.tokens = sequence.tokens(), .first = 32, .count = 3, .slots = sequence.slots(), .wants_logits =
//   true}); runner.Forward(builder.batch());   // the batch views the builder's memory: valid until the next Clear or
//   Add

#ifndef HEADSTART_ENGINE_SCHEDULER_BATCH_BUILDER_H_
#define HEADSTART_ENGINE_SCHEDULER_BATCH_BUILDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/batch.h"
#include "prefix_store/types.h"

namespace headstart {

// Tokens first .. first + count − 1 of one sequence.
struct BatchEntry {
  std::span<const TokenId> tokens;  // the sequence from its start
  int64_t first = 0;
  int64_t count = 0;
  std::span<const SlotIndex> slots;  // at least those that hold first + count tokens
  bool wants_logits = false;         // of its last token
};

class BatchBuilder {
 public:
  explicit BatchBuilder(int block_tokens) : block_tokens_(block_tokens) { Clear(); }

  void Clear();
  void Add(const BatchEntry& entry);

  RaggedBatch batch() const;
  bool empty() const { return tokens_.empty(); }

 private:
  const int block_tokens_;
  std::vector<TokenId> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> sequence_starts_;
  std::vector<int32_t> context_lengths_;
  std::vector<SlotIndex> block_tables_;
  std::vector<int32_t> block_table_starts_;
  std::vector<int32_t> logit_rows_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_BATCH_BUILDER_H_
