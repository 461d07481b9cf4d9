#include "engine/scheduler/batch_builder.h"

namespace headstart {

void BatchBuilder::Clear() {
  tokens_.clear();
  positions_.clear();
  sequence_starts_.assign(1, 0);
  context_lengths_.clear();
  block_tables_.clear();
  block_table_starts_.assign(1, 0);
  logit_rows_.clear();
}

void BatchBuilder::Add(const BatchEntry& entry) {
  const int64_t end = entry.first + entry.count;
  for (int64_t position = entry.first; position < end; ++position) {
    tokens_.push_back(entry.tokens[static_cast<size_t>(position)]);
    positions_.push_back(static_cast<int32_t>(position));
  }
  sequence_starts_.push_back(static_cast<int32_t>(tokens_.size()));
  context_lengths_.push_back(static_cast<int32_t>(end));

  const auto used = entry.slots.first(static_cast<size_t>((end + block_tokens_ - 1) / block_tokens_));
  block_tables_.insert(block_tables_.end(), used.begin(), used.end());
  block_table_starts_.push_back(static_cast<int32_t>(block_tables_.size()));
  if (entry.wants_logits) logit_rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
}

RaggedBatch BatchBuilder::batch() const {
  return {.tokens = tokens_,
          .positions = positions_,
          .sequence_starts = sequence_starts_,
          .context_lengths = context_lengths_,
          .block_tables = block_tables_,
          .block_table_starts = block_table_starts_,
          .logit_rows = logit_rows_};
}

}  // namespace headstart
