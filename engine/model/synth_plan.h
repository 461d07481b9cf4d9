// What a synthetic model's file will hold: configuration, tokenizer and the list of tensors in the order written.
//
// Thread-safety: plain values and pure functions.

#ifndef HEADSTART_ENGINE_MODEL_SYNTH_PLAN_H_
#define HEADSTART_ENGINE_MODEL_SYNTH_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/model_config.h"
#include "engine/model/model_source.h"
#include "engine/model/synth.h"
#include "engine/model/synth_tokenizer.h"

namespace headstart {

struct SynthTensor {
  WeightName weight{};
  std::string name = {};  // in the file
  DType dtype = DType::kF32;
  std::vector<int64_t> shape = {};
  std::vector<float> values = {};  // of a table that is no weight (GGUF's rope_freqs); else empty
  // GGUF's llama files interleave the halves of each head of Q and K, so that rotation pairs are neighbours.
  bool interleaved = false;

  int64_t rows() const { return shape.size() > 1 ? shape.front() : 1; }
  int64_t row_length() const { return shape.back(); }
  int64_t bytes() const { return rows() * DTypeBytes(dtype, row_length()); }
};

struct SynthPlan {
  ModelConfig config;
  uint64_t seed = 0;
  DType dtype = DType::kBF16;
  SynthTokenizer tokenizer;
  std::vector<SynthTensor> tensors;

  int64_t total_bytes() const;
};

// INVALID_ARGUMENT for options that give no model.
absl::StatusOr<SynthPlan> PlanSynthModel(const SynthOptions& options);

// The row of a Hugging Face file that row `row` of an interleaved matrix is.
constexpr int64_t InterleavedRow(int64_t row, int64_t head_dim) {
  const int64_t within = row % head_dim;
  return row - within + within % 2 * (head_dim / 2) + within / 2;
}

// config.json and generation_config.json.
std::string SynthConfigJson(const SynthPlan& plan);
std::string SynthGenerationConfigJson(const SynthPlan& plan);

// What comes before the tensors' bytes.
std::string SynthSafetensorsHeader(const SynthPlan& plan);
std::string SynthGgufHeader(const SynthPlan& plan);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_SYNTH_PLAN_H_
