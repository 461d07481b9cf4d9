#include "engine/backend/reference/reference_backend.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/backend/reference/allocate.h"
#include "engine/backend/reference/kv_pages.h"
#include "engine/backend/reference/weights.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/operations.h"

namespace headstart {
namespace {

namespace reference = kernels::reference;

float* Row(const Activations& activations, int row) { return activations.data + int64_t{row} * activations.stride; }

const ReferenceMatrix& Of(const Matrix& matrix) { return static_cast<const ReferenceMatrix&>(matrix); }
const ReferenceVector& Of(const Vector& vector) { return static_cast<const ReferenceVector&>(vector); }

class ReferenceBackend : public Backend {
 public:
  std::string numerics() const override { return "reference/double/1"; }

  absl::StatusOr<std::unique_ptr<Matrix>> LoadMatrix(std::span<const TensorView> stacked) override {
    return DecodeReferenceMatrix(stacked);
  }

  absl::StatusOr<std::unique_ptr<Vector>> LoadVector(std::span<const TensorView> joined) override {
    return DecodeReferenceVector(joined);
  }

  absl::StatusOr<Activations> NewActivations(int rows, int cols) override {
    absl::StatusOr<std::unique_ptr<float[]>> memory = AllocateArray<float>(rows, cols, "activations");
    if (!memory.ok()) return memory.status();
    memory_.push_back(*std::move(memory));
    return Activations{.data = memory_.back().get(), .rows = rows, .cols = cols, .stride = cols};
  }

  absl::Status AllocateKv(const KvShape& shape, int64_t slots) override { return pages_.Allocate(shape, slots); }

  absl::Status SetRope(const RopeSpec& spec, int /*max_positions*/) override {
    inverse_frequencies_.assign(spec.inverse_frequencies.begin(), spec.inverse_frequencies.end());
    rope_ = {.inverse_frequencies = inverse_frequencies_.data(),
             .pairs = spec.rotary_dim / 2,
             .adjacent = spec.pairing == RopePairing::kAdjacent,
             .magnitude = spec.magnitude};
    return absl::OkStatus();
  }

  void BeginStep(const RaggedBatch& batch) override { batch_ = &batch; }

  void Embed(const Matrix& table, Activations out) override {
    const ReferenceMatrix& rows = Of(table);
    for (int t = 0; t < out.rows; ++t) {
      std::copy_n(rows.values.get() + int64_t{ToIndex(batch_->tokens[t])} * rows.in, rows.in, Row(out, t));
    }
  }

  void RmsNorm(Activations in, const Vector& weight, float epsilon, Activations out) override {
    for (int t = 0; t < in.rows; ++t) {
      reference::RmsNorm(Row(in, t), Of(weight).values.get(), in.cols, epsilon, Row(out, t));
    }
  }

  void HeadNorm(Activations heads, const Vector& weight, float epsilon) override {
    for (int t = 0; t < heads.rows; ++t) {
      for (int first = 0; first < heads.cols; first += weight.size()) {
        float* head = Row(heads, t) + first;
        reference::RmsNorm(head, Of(weight).values.get(), weight.size(), epsilon, head);
      }
    }
  }

  void Linear(Activations in, const Matrix& weight, const Vector* bias, Activations out) override {
    const float* bias_values = bias == nullptr ? nullptr : Of(*bias).values.get();
    for (int t = 0; t < in.rows; ++t) {
      reference::Linear(Row(in, t), Of(weight).values.get(), bias_values, in.cols, out.cols, Row(out, t));
    }
  }

  void LinearAdd(Activations in, const Matrix& weight, Activations out) override {
    for (int t = 0; t < in.rows; ++t) {
      reference::LinearAdd(Row(in, t), Of(weight).values.get(), in.cols, out.cols, Row(out, t));
    }
  }

  void Rope(Activations heads, int head_dim) override {
    for (int t = 0; t < heads.rows; ++t) {
      for (int first = 0; first < heads.cols; first += head_dim) {
        reference::Rope(rope_, batch_->positions[t], Row(heads, t) + first);
      }
    }
  }

  void StoreKv(int layer, Activations k, Activations v) override {
    for (int sequence = 0; sequence < batch_->num_sequences(); ++sequence) {
      for (int t = batch_->sequence_starts[sequence]; t < batch_->sequence_starts[sequence + 1]; ++t) {
        StoreToken(PlaceOf(sequence, batch_->positions[t], layer), Row(k, t), Row(v, t));
      }
    }
  }

  void Attention(const AttentionSpec& spec, Activations q, Activations out) override {
    for (int sequence = 0; sequence < batch_->num_sequences(); ++sequence) {
      for (int kv_head = 0; kv_head < pages_.shape().kv_heads; ++kv_head) {
        GatherHead(sequence, spec.layer, kv_head);
        for (int t = batch_->sequence_starts[sequence]; t < batch_->sequence_starts[sequence + 1]; ++t) {
          AttendGroup(spec, batch_->positions[t], kv_head, Row(q, t), Row(out, t));
        }
      }
    }
  }

  void SwiGlu(Activations gate_up, Activations out) override {
    for (int t = 0; t < out.rows; ++t) {
      reference::SwiGlu(Row(gate_up, t), Row(gate_up, t) + out.cols, out.cols, Row(out, t));
    }
  }

  void GatherLogitRows(Activations in, Activations out) override {
    for (int i = 0; i < out.rows; ++i) std::copy_n(Row(in, batch_->logit_rows[i]), in.cols, Row(out, i));
  }

  std::span<const float> ReadRow(Activations in, int row) override {
    return {Row(in, row), static_cast<size_t>(in.cols)};
  }

  void CopyKv(SlotIndex from, SlotIndex to, int tokens) override { pages_.Copy(from, to, tokens); }

  void ReadBlock(SlotIndex slot, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), pages_.Slot(slot).data(), bytes.size());
  }

  void WriteBlock(SlotIndex slot, std::span<const std::byte> bytes) override {
    std::memcpy(pages_.Slot(slot).data(), bytes.data(), bytes.size());
  }

 private:
  ReferenceKvPlace PlaceOf(int sequence, int32_t position, int layer) const {
    const int block_tokens = pages_.shape().block_tokens;
    const int block = batch_->block_table_starts[sequence] + position / block_tokens;
    return {.slot = batch_->block_tables[block], .layer = layer, .token = position % block_tokens};
  }

  void StoreToken(ReferenceKvPlace place, const float* k, const float* v) {
    for (place.head = 0; place.head < pages_.shape().kv_heads; ++place.head) {
      const int64_t first = int64_t{place.head} * pages_.shape().head_dim;
      place.part = ReferenceKvPart::kKey;
      pages_.Write(place, k + first);
      place.part = ReferenceKvPart::kValue;
      pages_.Write(place, v + first);
    }
  }

  // Brings one head's keys and values of a sequence's whole context into token order.
  void GatherHead(int sequence, int layer, int kv_head) {
    const int count = batch_->context_lengths[sequence];
    const int64_t dim = pages_.shape().head_dim;
    keys_.resize(static_cast<size_t>(count * dim));
    values_.resize(static_cast<size_t>(count * dim));
    for (int position = 0; position < count; ++position) {
      ReferenceKvPlace place = PlaceOf(sequence, position, layer);
      place.head = kv_head;
      pages_.Read(place, keys_.data() + position * dim);
      place.part = ReferenceKvPart::kValue;
      pages_.Read(place, values_.data() + position * dim);
    }
  }

  // The query heads that share `kv_head`, for the token at `position`, over what it sees of the gathered context.
  void AttendGroup(const AttentionSpec& spec, int32_t position, int kv_head, const float* q, float* out) {
    const int dim = pages_.shape().head_dim;
    const int first_seen = spec.window == 0 ? 0 : std::max(0, position + 1 - spec.window);
    const reference::HeadContext seen = {.keys = keys_.data() + int64_t{first_seen} * dim,
                                         .values = values_.data() + int64_t{first_seen} * dim,
                                         .count = position + 1 - first_seen,
                                         .head_dim = dim};
    weights_.resize(static_cast<size_t>(seen.count));
    const int group = spec.heads / pages_.shape().kv_heads;
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      reference::Attention(seen, q + head * dim, double{spec.scale}, weights_.data(), out + head * dim);
    }
  }

  std::vector<std::unique_ptr<float[]>> memory_;  // of activations
  ReferenceKvPages pages_;
  std::vector<float> inverse_frequencies_;
  reference::RopeTurn rope_ = {};
  const RaggedBatch* batch_ = nullptr;

  // Scratch of Attention: one head's context.
  std::vector<float> keys_;
  std::vector<float> values_;
  std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<Backend> NewReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace headstart
