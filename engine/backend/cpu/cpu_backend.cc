#include "engine/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/backend/cpu/attention.h"
#include "engine/backend/cpu/kv_pages.h"
#include "engine/backend/cpu/linear.h"
#include "engine/backend/cpu/parallel.h"
#include "engine/backend/cpu/rope_table.h"
#include "engine/backend/cpu/weights.h"
#include "engine/backend/thread_pool.h"
#include "fmt/format.h"
#include "kernels/cpu/kernel_table.h"

namespace headstart {
namespace {

using kernels::Epilogue;
using kernels::InstructionSet;

// Raised with every change of a kernel that changes a bit of any result.
constexpr int kNumericsVersion = 1;

constexpr int kMaxThreads = 1024;

const CpuMatrix& Packed(const Matrix& matrix) { return static_cast<const CpuMatrix&>(matrix); }
const float* Data(const Vector& vector) { return static_cast<const CpuVector&>(vector).data(); }
float* Row(Activations activations, int row) { return activations.data + int64_t{row} * activations.stride; }

// Where a token of the step lives.
struct TokenPlace {
  SlotIndex slot;
  int offset;  // in the slot's block
};

class CpuBackend : public Backend {
 public:
  CpuBackend(InstructionSet isa, int threads) : isa_(isa), kernels_(kernels::KernelsFor(isa)), pool_(threads) {}

  std::string numerics() const override {
    return fmt::format("cpu/{}/{}", kernels::InstructionSetName(isa_), kNumericsVersion);
  }

  absl::StatusOr<std::unique_ptr<Matrix>> LoadMatrix(std::span<const TensorView> stacked) override {
    return PackMatrix(stacked, pool_);
  }
  absl::StatusOr<std::unique_ptr<Vector>> LoadVector(std::span<const TensorView> joined) override {
    return DecodeVector(joined);
  }
  absl::StatusOr<Activations> NewActivations(int rows, int cols) override;
  absl::Status AllocateKv(const KvShape& shape, int64_t slots) override;
  absl::Status SetRope(const RopeSpec& spec, int /*max_positions*/) override { return rope_.Set(spec); }

  void BeginStep(const RaggedBatch& batch) override;
  void Embed(const Matrix& table, Activations out) override;
  void RmsNorm(Activations in, const Vector& weight, float epsilon, Activations out) override;
  void HeadNorm(Activations heads, const Vector& weight, float epsilon) override;
  void Linear(Activations in, const Matrix& weight, const Vector* bias, Activations out) override;
  void LinearAdd(Activations in, const Matrix& weight, Activations out) override;
  void Rope(Activations heads, int head_dim) override;
  void StoreKv(int layer, Activations k, Activations v) override;
  void Attention(const AttentionSpec& spec, Activations q, Activations out) override;
  void SwiGlu(Activations gate_up, Activations out) override;
  void GatherLogitRows(Activations in, Activations out) override;
  std::span<const float> ReadRow(Activations in, int row) override { return {Row(in, row), size_t(in.cols)}; }

  void CopyKv(SlotIndex from, SlotIndex to, int tokens) override { pages_->Copy(from, to, tokens); }
  void ReadBlock(SlotIndex slot, std::span<std::byte> bytes) override { pages_->Read(slot, bytes); }
  void WriteBlock(SlotIndex slot, std::span<const std::byte> bytes) override { pages_->Write(slot, bytes); }

 private:
  void PlaceTokens();

  const InstructionSet isa_;
  const kernels::KernelTable& kernels_;
  ThreadPool pool_;
  LinearRunner linear_{kernels_, pool_};
  AttentionRunner attention_{kernels_, pool_};
  RopeTable rope_;
  std::optional<KvPages> pages_;
  std::vector<MemoryRegion> activations_;
  RaggedBatch batch_;
  std::vector<TokenPlace> places_;  // [tokens of the step]
};

absl::StatusOr<Activations> CpuBackend::NewActivations(int rows, int cols) {
  if (rows < 0 || cols < 1) {
    return absl::InvalidArgumentError(fmt::format("activations: {} rows of {} columns", rows, cols));
  }
  constexpr int kFloatsPerLine = 16;
  const int stride = (cols + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine;
  absl::StatusOr<MemoryRegion> memory = MemoryRegion::Allocate(int64_t{rows} * stride * 4, "activations");
  if (!memory.ok()) return memory.status();
  activations_.push_back(*std::move(memory));
  return Activations{reinterpret_cast<float*>(activations_.back().data()), rows, cols, stride};
}

absl::Status CpuBackend::AllocateKv(const KvShape& shape, int64_t slots) {
  if (pages_.has_value()) return absl::FailedPreconditionError("KV pages are allocated once per backend");
  absl::StatusOr<KvPages> pages = KvPages::Allocate(shape, slots);
  if (!pages.ok()) return pages.status();
  pages_.emplace(*std::move(pages));
  return absl::OkStatus();
}

void CpuBackend::BeginStep(const RaggedBatch& batch) {
  batch_ = batch;
  if (pages_.has_value()) PlaceTokens();
  if (rope_.pairs() > 0) rope_.Fill(batch.positions, pool_);
}

void CpuBackend::PlaceTokens() {
  places_.clear();
  const int block_tokens = pages_->shape().block_tokens;
  for (int sequence = 0; sequence < batch_.num_sequences(); ++sequence) {
    const SlotIndex* blocks = batch_.block_tables.data() + batch_.block_table_starts[sequence];
    for (int token = batch_.sequence_starts[sequence]; token < batch_.sequence_starts[sequence + 1]; ++token) {
      const int position = batch_.positions[token];
      places_.push_back({blocks[position / block_tokens], position % block_tokens});
    }
  }
}

void CpuBackend::Embed(const Matrix& table, Activations out) {
  ForRows(pool_, out.rows, out.cols,
          [&](int row, int) { Packed(table).ReadRow(ToIndex(batch_.tokens[row]), Row(out, row)); });
}

void CpuBackend::RmsNorm(Activations in, const Vector& weight, float epsilon, Activations out) {
  ForRows(pool_, in.rows, in.cols,
          [&](int row, int) { kernels_.rms_norm(Row(in, row), Data(weight), in.cols, epsilon, Row(out, row)); });
}

void CpuBackend::HeadNorm(Activations heads, const Vector& weight, float epsilon) {
  const int head_dim = weight.size();
  ForRows(pool_, heads.rows, heads.cols, [&](int row, int) {
    for (int column = 0; column < heads.cols; column += head_dim) {
      float* head = Row(heads, row) + column;
      kernels_.rms_norm(head, Data(weight), head_dim, epsilon, head);
    }
  });
}

void CpuBackend::Linear(Activations in, const Matrix& weight, const Vector* bias, Activations out) {
  const Epilogue epilogue = bias != nullptr ? Epilogue::kAddBias : Epilogue::kStore;
  linear_.Run(in, Packed(weight), epilogue, bias != nullptr ? Data(*bias) : nullptr, out);
}

void CpuBackend::LinearAdd(Activations in, const Matrix& weight, Activations out) {
  linear_.Run(in, Packed(weight), Epilogue::kAddToOutput, nullptr, out);
}

void CpuBackend::Rope(Activations heads, int head_dim) {
  const auto turn = rope_.pairing() == RopePairing::kHalves ? kernels_.rope_halves : kernels_.rope_adjacent;
  ForRows(pool_, heads.rows, heads.cols, [&](int row, int) {
    for (int column = 0; column < heads.cols; column += head_dim) {
      turn(Row(heads, row) + column, rope_.Cosines(row), rope_.Sines(row), rope_.pairs());
    }
  });
}

void CpuBackend::StoreKv(int layer, Activations k, Activations v) {
  const KvShape& shape = pages_->shape();
  ForRows(pool_, k.rows, k.cols, [&](int row, int) {
    const TokenPlace place = places_[row];
    for (int head = 0; head < shape.kv_heads; ++head) {
      const int column = head * shape.head_dim;
      pages_->Store(kernels_, place.slot, layer, head, place.offset, Row(k, row) + column, Row(v, row) + column);
    }
  });
}

void CpuBackend::Attention(const AttentionSpec& spec, Activations q, Activations out) {
  attention_.Run(*pages_, batch_, spec, q, out);
}

void CpuBackend::SwiGlu(Activations gate_up, Activations out) {
  ForRows(pool_, out.rows, out.cols, [&](int row, int) {
    const float* gate = Row(gate_up, row);
    kernels_.swiglu(gate, gate + out.cols, out.cols, Row(out, row));
  });
}

void CpuBackend::GatherLogitRows(Activations in, Activations out) {
  for (int row = 0; row < out.rows; ++row) {
    std::copy_n(Row(in, batch_.logit_rows[row]), in.cols, Row(out, row));
  }
}

int DefaultThreads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

absl::StatusOr<std::unique_ptr<Backend>> NewCpuBackend(const CpuBackendOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        fmt::format("threads: {} is not between 1 and {}, or 0 for all", options.threads, kMaxThreads));
  }
  const InstructionSet isa = options.isa.value_or(kernels::BestInstructionSet());
  if (!kernels::IsSupported(isa)) {
    return absl::InvalidArgumentError(fmt::format("isa: this processor does not run {}; the best it runs is {}",
                                                  kernels::InstructionSetName(isa),
                                                  kernels::InstructionSetName(kernels::BestInstructionSet())));
  }
  return std::make_unique<CpuBackend>(isa, options.threads == 0 ? DefaultThreads() : options.threads);
}

}  // namespace headstart
