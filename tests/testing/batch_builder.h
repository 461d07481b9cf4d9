// BatchBuilder: lays pieces of sequences end to end as a RaggedBatch, for tests that drive a backend or a model by
// hand.
//
// Thread-safety: none. The batch views the builder and is good until the next Add or the builder's end.
//
//   BatchBuilder builder;
//   builder.Add({.tokens = prompt, .first = 32, .count = 3, .slots = table, .logits = LogitsOf::kLast});
//   model.Forward(builder.batch());

#ifndef HEADSTART_TESTS_TESTING_BATCH_BUILDER_H_
#define HEADSTART_TESTS_TESTING_BATCH_BUILDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/batch.h"
#include "prefix_store/types.h"

namespace headstart::testing {

enum class LogitsOf { kNone, kLast, kAll };

// What one sequence computes in a step: tokens [first, first + count) of its text; what comes before is in its pages.
struct BatchPiece {
  std::span<const TokenId> tokens;  // of the sequence from position 0, at least first + count
  int first = 0;
  int count = 0;
  std::span<const SlotIndex> slots;  // the sequence's block table
  LogitsOf logits = LogitsOf::kLast;
};

class BatchBuilder {
 public:
  void Add(const BatchPiece& piece) {
    for (int position = piece.first; position < piece.first + piece.count; ++position) {
      const bool is_last = position + 1 == piece.first + piece.count;
      if (piece.logits == LogitsOf::kAll || (piece.logits == LogitsOf::kLast && is_last)) {
        logit_rows_.push_back(static_cast<int32_t>(tokens_.size()));
      }
      tokens_.push_back(piece.tokens[static_cast<size_t>(position)]);
      positions_.push_back(position);
    }
    sequence_starts_.push_back(static_cast<int32_t>(tokens_.size()));
    context_lengths_.push_back(piece.first + piece.count);
    block_tables_.insert(block_tables_.end(), piece.slots.begin(), piece.slots.end());
    block_table_starts_.push_back(static_cast<int32_t>(block_tables_.size()));
  }

  RaggedBatch batch() const {
    return {.tokens = tokens_,
            .positions = positions_,
            .sequence_starts = sequence_starts_,
            .context_lengths = context_lengths_,
            .block_tables = block_tables_,
            .block_table_starts = block_table_starts_,
            .logit_rows = logit_rows_};
  }

 private:
  std::vector<TokenId> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> sequence_starts_ = {0};
  std::vector<int32_t> context_lengths_;
  std::vector<SlotIndex> block_tables_;
  std::vector<int32_t> block_table_starts_ = {0};
  std::vector<int32_t> logit_rows_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_BATCH_BUILDER_H_
