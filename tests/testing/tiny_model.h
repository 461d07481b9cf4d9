// TinyModel: a source, a backend and the transformer over them, in one place, to run a list of tokens cold.
//
// Thread-safety: none.
// Ownership: owns all three.
//
//   ASSERT_OK_AND_ASSIGN(auto model, TinyModel::Load(std::make_unique<RandomModelSource>(TinyConfig(), 1),
//   NewReferenceBackend())); std::vector<std::vector<float>> logits = model.Cold(tokens);   // a row for every token

#ifndef HEADSTART_TESTS_TESTING_TINY_MODEL_H_
#define HEADSTART_TESTS_TESTING_TINY_MODEL_H_

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/model/model_source.h"
#include "engine/transformer/transformer.h"
#include "tests/testing/batch_builder.h"

namespace headstart::testing {

using LogitRows = std::vector<std::vector<float>>;

// The logits that the last Forward of `batch` gave.
inline LogitRows ReadLogits(ModelRunner& model, const RaggedBatch& batch) {
  LogitRows rows;
  for (int i = 0; i < static_cast<int>(batch.logit_rows.size()); ++i) {
    const std::span<const float> row = model.Logits(i);
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

inline std::vector<TokenId> RandomTokens(int count, int vocab_size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<TokenId> tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(TokenId{static_cast<int32_t>(random() % static_cast<uint32_t>(vocab_size))});
  }
  return tokens;
}

class TinyModel {
 public:
  static constexpr TransformerOptions kOptions = {.kv_dtype = DType::kF32, .slots = 64, .max_logit_rows = 256};

  static absl::StatusOr<TinyModel> Load(std::unique_ptr<ModelSource> source, std::unique_ptr<Backend> backend,
                                        const TransformerOptions& options = kOptions) {
    absl::StatusOr<std::unique_ptr<Transformer>> transformer = Transformer::Load(*source, *backend, options);
    if (!transformer.ok()) return transformer.status();
    return TinyModel(std::move(source), std::move(backend), *std::move(transformer));
  }

  const ModelConfig& config() const { return source_->config(); }
  Backend& backend() { return *backend_; }
  Transformer& transformer() { return *transformer_; }

  // The logits after every token, computed in one step into slots 0, 1, 2 and so on.
  LogitRows Cold(std::span<const TokenId> tokens) {
    const int count = static_cast<int>(tokens.size());
    const int block_tokens = transformer_->kv_shape().block_tokens;
    std::vector<SlotIndex> slots;
    for (int block = 0; block * block_tokens < count; ++block) slots.push_back(SlotIndex{static_cast<uint32_t>(block)});
    BatchBuilder builder;
    builder.Add({.tokens = tokens, .count = count, .slots = slots, .logits = LogitsOf::kAll});
    transformer_->Forward(builder.batch());
    return ReadLogits(*transformer_, builder.batch());
  }

 private:
  TinyModel(std::unique_ptr<ModelSource> source, std::unique_ptr<Backend> backend,
            std::unique_ptr<Transformer> transformer)
      : source_(std::move(source)), backend_(std::move(backend)), transformer_(std::move(transformer)) {}

  std::unique_ptr<ModelSource> source_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Transformer> transformer_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_TINY_MODEL_H_
