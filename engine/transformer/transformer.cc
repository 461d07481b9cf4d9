#include "engine/transformer/transformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/weights_digest.h"
#include "engine/transformer/fingerprint.h"
#include "engine/transformer/model_weights.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// Activations of one step, kept between steps. Named by what they hold; [rows, columns].
struct StepBuffers {
  Activations hidden;         // [step, hidden]: the residual stream
  Activations normed;         // [step, hidden]
  Activations qkv;            // [step, q + k + v]
  Activations attended;       // [step, q]
  Activations gate_up;        // [step, 2 · intermediate]
  Activations activated;      // [step, intermediate]
  Activations last_hidden;    // [logit rows, hidden]: the residual stream of the rows whose logits are wanted
  Activations last_attended;  // [logit rows, q]
  Activations logits;         // [logit rows, vocabulary]
};

absl::StatusOr<StepBuffers> NewStepBuffers(const ModelConfig& config, const RunnerLimits& limits, Backend& backend) {
  const int q = config.heads * config.head_dim;
  const int kv = config.kv_heads * config.head_dim;
  const int step = std::max(limits.max_step_tokens, limits.max_logit_rows);
  const int last = limits.max_logit_rows;
  StepBuffers buffers;
  struct Request {
    Activations& buffer;
    int rows;
    int columns;
  };
  for (const Request& request :
       {Request{buffers.hidden, step, config.hidden_size}, Request{buffers.normed, step, config.hidden_size},
        Request{buffers.qkv, step, q + 2 * kv}, Request{buffers.attended, step, q},
        Request{buffers.gate_up, step, 2 * config.intermediate_size},
        Request{buffers.activated, step, config.intermediate_size},
        Request{buffers.last_hidden, last, config.hidden_size}, Request{buffers.last_attended, last, q},
        Request{buffers.logits, last, config.vocab_size}}) {
    absl::StatusOr<Activations> activations = backend.NewActivations(request.rows, request.columns);
    if (!activations.ok()) return activations.status();
    request.buffer = *activations;
  }
  return buffers;
}

class LoadedTransformer : public Transformer {
 public:
  LoadedTransformer(const ModelConfig& config, const KvShape& kv_shape, const RunnerLimits& limits, Backend& backend,
                    ModelWeights weights, StepBuffers buffers, Fingerprint fingerprint)
      : config_(config),
        kv_shape_(kv_shape),
        limits_(limits),
        backend_(backend),
        weights_(std::move(weights)),
        buffers_(buffers),
        fingerprint_(fingerprint) {}

  const RunnerLimits& limits() const override { return limits_; }
  Fingerprint fingerprint() const override { return fingerprint_; }
  const KvShape& kv_shape() const override { return kv_shape_; }

  void Forward(const RaggedBatch& batch) override {
    const int tokens = batch.num_tokens();
    const int logit_rows = static_cast<int>(batch.logit_rows.size());
    const Activations hidden = buffers_.hidden.Rows(tokens);
    const Activations attended = buffers_.attended.Rows(tokens);

    backend_.BeginStep(batch);
    backend_.Embed(*weights_.embedding, hidden);
    for (int layer = 0; layer < config_.layers; ++layer) {
      Attend(layer, hidden, attended);
      if (layer + 1 == config_.layers) break;
      FinishLayer(weights_.layers[layer], hidden, attended);
    }
    if (logit_rows > 0) FinishLastLayer(hidden, attended, logit_rows);
  }

  std::span<const float> Logits(int i) override { return backend_.ReadRow(buffers_.logits, i); }

  void CopyKv(SlotIndex from, SlotIndex to, int tokens) override { backend_.CopyKv(from, to, tokens); }

 private:
  // attended = softmax(Q Kᵗ / √dim) V of the normed hidden states; their K and V go to the pages.
  void Attend(int layer, Activations hidden, Activations attended) {
    const LayerWeights& weights = weights_.layers[layer];
    const int q_size = config_.heads * config_.head_dim;
    const int kv_size = config_.kv_heads * config_.head_dim;
    const Activations normed = buffers_.normed.Rows(hidden.rows);
    const Activations qkv = buffers_.qkv.Rows(hidden.rows);
    const Activations q = qkv.Columns(0, q_size);
    const Activations k = qkv.Columns(q_size, kv_size);
    const Activations v = qkv.Columns(q_size + kv_size, kv_size);

    backend_.RmsNorm(hidden, *weights.attention_norm, config_.rms_norm_epsilon, normed);
    backend_.Linear(normed, *weights.qkv, weights.qkv_bias.get(), qkv);
    if (config_.qk_norm) {
      backend_.HeadNorm(q, *weights.query_norm, config_.rms_norm_epsilon);
      backend_.HeadNorm(k, *weights.key_norm, config_.rms_norm_epsilon);
    }
    backend_.Rope(q, config_.head_dim);
    backend_.Rope(k, config_.head_dim);
    backend_.StoreKv(layer, k, v);
    backend_.Attention({.layer = layer,
                        .heads = config_.heads,
                        .scale = 1.0f / std::sqrt(static_cast<float>(config_.head_dim)),
                        .window = config_.sliding_window},
                       q, attended);
  }

  // hidden += attended · Oᵗ, then hidden += down(silu(gate(x)) · up(x)) of x = norm(hidden).
  void FinishLayer(const LayerWeights& weights, Activations hidden, Activations attended) {
    const Activations normed = buffers_.normed.Rows(hidden.rows);
    const Activations gate_up = buffers_.gate_up.Rows(hidden.rows);
    const Activations activated = buffers_.activated.Rows(hidden.rows);

    backend_.LinearAdd(attended, *weights.attention_output, hidden);
    backend_.RmsNorm(hidden, *weights.mlp_norm, config_.rms_norm_epsilon, normed);
    backend_.Linear(normed, *weights.gate_up, nullptr, gate_up);
    backend_.SwiGlu(gate_up, activated);
    backend_.LinearAdd(activated, *weights.down, hidden);
  }

  // After the last layer's attention only the rows whose logits are wanted go on: nothing reads the others.
  void FinishLastLayer(Activations all_hidden, Activations all_attended, int logit_rows) {
    const Activations hidden = buffers_.last_hidden.Rows(logit_rows);
    const Activations attended = buffers_.last_attended.Rows(logit_rows);
    const Activations normed = buffers_.normed.Rows(logit_rows);

    backend_.GatherLogitRows(all_hidden, hidden);
    backend_.GatherLogitRows(all_attended, attended);
    FinishLayer(weights_.layers.back(), hidden, attended);
    backend_.RmsNorm(hidden, *weights_.output_norm, config_.rms_norm_epsilon, normed);
    backend_.Linear(normed, weights_.output(), nullptr, buffers_.logits.Rows(logit_rows));
  }

  const ModelConfig config_;
  const KvShape kv_shape_;
  const RunnerLimits limits_;
  Backend& backend_;
  const ModelWeights weights_;
  const StepBuffers buffers_;
  const Fingerprint fingerprint_;
};

absl::Status CheckPositive(std::string_view name, int64_t value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("TransformerOptions::{} is {}; it must be at least 1", name, value));
}

absl::Status CheckOptions(const TransformerOptions& options) {
  if (options.kv_dtype != DType::kBF16 && options.kv_dtype != DType::kF32) {
    return absl::InvalidArgumentError("TransformerOptions::kv_dtype must be BF16 or F32");
  }
  absl::Status status = CheckPositive("block_tokens", options.block_tokens);
  status.Update(CheckPositive("slots", options.slots));
  status.Update(CheckPositive("max_step_tokens", options.max_step_tokens));
  status.Update(CheckPositive("max_logit_rows", options.max_logit_rows));
  return status;
}

absl::Status SetRope(const ModelConfig& config, Backend& backend) {
  const RopeFrequencies frequencies = ComputeRopeFrequencies(config);
  return backend.SetRope({.rotary_dim = config.head_dim,
                          .pairing = config.rope_adjacent_pairs ? RopePairing::kAdjacent : RopePairing::kHalves,
                          .inverse_frequencies = frequencies.inverse,
                          .magnitude = frequencies.magnitude},
                         config.max_positions);
}

RunnerLimits LimitsOf(const ModelConfig& config, const TransformerOptions& options) {
  return {.vocab_size = config.vocab_size,
          .max_positions = config.max_positions,
          .max_step_tokens = options.max_step_tokens,
          .max_logit_rows = options.max_logit_rows,
          .block_tokens = options.block_tokens};
}

}  // namespace

KvShape Transformer::KvShapeOf(const ModelConfig& config, const TransformerOptions& options) {
  return {.layers = config.layers,
          .kv_heads = config.kv_heads,
          .head_dim = config.head_dim,
          .block_tokens = options.block_tokens,
          .dtype = options.kv_dtype};
}

absl::StatusOr<std::unique_ptr<Transformer>> Transformer::Load(const ModelSource& source, Backend& backend,
                                                               const TransformerOptions& options,
                                                               const LoadProgress& progress) {
  const ModelConfig& config = source.config();
  const KvShape kv_shape = KvShapeOf(config, options);
  const RunnerLimits limits = LimitsOf(config, options);
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = SetRope(config, backend); !status.ok()) return status;
  absl::StatusOr<StepBuffers> buffers = NewStepBuffers(config, limits, backend);
  if (!buffers.ok()) return buffers.status();
  if (absl::Status status = backend.AllocateKv(kv_shape, options.slots); !status.ok()) return status;
  absl::StatusOr<ModelWeights> weights = LoadModelWeights(source, backend, progress);
  if (!weights.ok()) return weights.status();
  const Fingerprint fingerprint =
      FingerprintOf(DescribeForFingerprint(WeightsDigest(source), config, kv_shape, backend.numerics()));
  return std::make_unique<LoadedTransformer>(config, kv_shape, limits, backend, *std::move(weights), *buffers,
                                             fingerprint);
}

}  // namespace headstart
