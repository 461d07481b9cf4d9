// Backend: the device that a model computes on, as a handful of coarse operations over a ragged batch. The model's
// forward pass is written once against this interface; `reference` (scalar, double accumulation: the oracle), `cpu`
// (the default) and later `cuda` implement it.
//
// Thread-safety: none; one thread drives a backend. A backend may use threads of its own inside a call.
// Ownership: the backend owns all memory it hands out views of and outlives them; weights are owned by their handles.
// Errors: loading and allocation return a status. Operations on valid shapes cannot fail; a wrong shape is our own bug.
//
// Exactness. Every operation computes each output row from that row's inputs (and its sequence's KV) alone, in an order
// of additions fixed by the shapes of the model, never by the number of rows, their neighbours, the thread count or how
// a sequence was split into steps. Attention reads K and V from the pages as stored, also those of the same step.

#ifndef HEADSTART_ENGINE_BACKEND_BACKEND_H_
#define HEADSTART_ENGINE_BACKEND_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/batch.h"
#include "engine/model/tensor.h"
#include "prefix_store/types.h"

namespace headstart {

// Activations in the backend's memory: f32, row-major, row r at data + r * stride. Only the backend reads `data`.
struct Activations {
  float* data = nullptr;
  int rows = 0;
  int cols = 0;
  int stride = 0;

  Activations Rows(int count) const { return {data, count, cols, stride}; }
  Activations Columns(int first, int count) const { return {data + first, rows, count, stride}; }
};

// Weights of a linear layer, [out, in], in whatever form the backend computes with. May be several matrices stacked
// along `out` (Q, K and V in one).
class Matrix {
 public:
  virtual ~Matrix() = default;
  virtual int out_features() const = 0;
  virtual int in_features() const = 0;
};

// A vector of f32 weights: a norm's scale or a bias.
class Vector {
 public:
  virtual ~Vector() = default;
  virtual int size() const = 0;
};

enum class RopePairing {
  kHalves,    // dimension i turns with i + rotary_dim / 2 (Hugging Face files)
  kAdjacent,  // dimension 2i turns with 2i + 1 (GGUF files of the llama architecture)
};

// Cosines and sines are a function of position alone; the backend derives them from these, once.
struct RopeSpec {
  int rotary_dim = 0;  // even; dimensions past it are left alone
  RopePairing pairing = RopePairing::kHalves;
  std::span<const float> inverse_frequencies;  // [rotary_dim / 2], scaling already applied
  float magnitude = 1.0f;                      // multiplies cosine and sine (yarn's attention factor)
};

// What the KV pages of a model look like. Everything here enters the fingerprint.
struct KvShape {
  int layers = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int block_tokens = 16;
  DType dtype = DType::kBF16;  // kBF16 or kF32

  // layers × kv_heads × head_dim × 2 × bytes
  int64_t bytes_per_token() const;
  int64_t bytes_per_block() const { return bytes_per_token() * block_tokens; }
};

struct AttentionSpec {
  int layer = 0;
  int heads = 0;    // a multiple of the KV heads
  float scale = 0;  // multiplies q·k
  int window = 0;   // sliding window: a token sees the last `window` positions, itself included; 0 is all
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Names all that decides the bits this backend produces, such as "cpu/avx512_bf16/1": kind, instruction-set path,
  // version of the kernels' numerics.
  virtual std::string numerics() const = 0;

  // --- loading
  virtual absl::StatusOr<std::unique_ptr<Matrix>> LoadMatrix(std::span<const TensorView> stacked) = 0;
  virtual absl::StatusOr<std::unique_ptr<Vector>> LoadVector(std::span<const TensorView> joined) = 0;
  // Memory for activations of up to `rows` rows; freed with the backend.
  virtual absl::StatusOr<Activations> NewActivations(int rows, int cols) = 0;
  // KV pages for slots 0 .. slots − 1, contents undefined. Once per backend.
  virtual absl::Status AllocateKv(const KvShape& shape, int64_t slots) = 0;
  virtual absl::Status SetRope(const RopeSpec& spec, int max_positions) = 0;

  // --- one step: BeginStep, then the operations in the model's order. The batch outlives the step.
  virtual void BeginStep(const RaggedBatch& batch) = 0;
  virtual void Embed(const Matrix& table, Activations out) = 0;  // out[t] = table[tokens[t]]
  virtual void RmsNorm(Activations in, const Vector& weight, float epsilon, Activations out) = 0;  // over whole rows
  virtual void HeadNorm(Activations heads, const Vector& weight, float epsilon) = 0;  // in place, over each head
  virtual void Linear(Activations in, const Matrix& weight, const Vector* bias, Activations out) = 0;
  virtual void LinearAdd(Activations in, const Matrix& weight, Activations out) = 0;  // out += in · weightᵀ
  virtual void Rope(Activations heads, int head_dim) = 0;                             // in place
  virtual void StoreKv(int layer, Activations k, Activations v) = 0;                  // into the tokens' pages
  virtual void Attention(const AttentionSpec& spec, Activations q, Activations out) = 0;
  virtual void SwiGlu(Activations gate_up, Activations out) = 0;      // gate_up = [gate | up]; out = silu(gate) · up
  virtual void GatherLogitRows(Activations in, Activations out) = 0;  // out[i] = in[logit_rows[i]]
  // The row in the host's memory, valid until the next step.
  virtual std::span<const float> ReadRow(Activations in, int row) = 0;

  // --- blocks as opaque bytes. ReadBlock and WriteBlock may be called from other threads beside a step, each on slots
  // that nobody else uses meanwhile.
  virtual void CopyKv(SlotIndex from, SlotIndex to, int tokens) = 0;  // the first `tokens` tokens, every layer and head
  virtual void ReadBlock(SlotIndex slot, std::span<std::byte> bytes) = 0;         // [bytes_per_block]
  virtual void WriteBlock(SlotIndex slot, std::span<const std::byte> bytes) = 0;  // [bytes_per_block]
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_BACKEND_H_
