// Speed of the CPU backend's operations, at the shapes of a 1-billion-parameter model. Arguments: rows, threads.
//
//   kernels_benchmark --benchmark_filter=Linear

#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "engine/backend/cpu/cpu_backend.h"

namespace headstart {
namespace {

constexpr int kInputs = 2048;
constexpr int kOutputs = 8192;

int64_t BytesOf(DType dtype, int64_t weights) {
  switch (dtype) {
    case DType::kF32:
      return weights * 4;
    case DType::kQ8_0:
      return weights / 32 * 34;
    default:
      return weights * 2;
  }
}

std::vector<std::byte> RandomBytes(DType dtype, int64_t count) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(BytesOf(dtype, count));
  // Small exponents in every format: no infinity, NaN or subnormal slows the arithmetic.
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 2 == 0 ? random() & 0xff : 0x3c);
  return bytes;
}

struct Layer {
  Layer(DType dtype, int rows, int threads) : backend(NewCpuBackend({.threads = threads}).value()) {
    const std::vector<std::byte> bytes = RandomBytes(dtype, int64_t{kOutputs} * kInputs);
    const TensorView tensor = {"benchmark", dtype, {kOutputs, kInputs}, bytes};
    // Several copies, so that one row's weights come from memory and not from the cache.
    for (int copy = 0; copy < kCopies; ++copy) matrices.push_back(backend->LoadMatrix({&tensor, 1}).value());
    in = backend->NewActivations(rows, kInputs).value();
    out = backend->NewActivations(rows, kOutputs).value();
    for (int64_t i = 0; i < int64_t{rows} * in.stride; ++i) in.data[i] = static_cast<float>(i % 17) / 16;
    Run(0);  // touches all memory that the loop will
  }

  void Run(int64_t copy) { backend->Linear(in, *matrices[copy % kCopies], nullptr, out); }

  static constexpr int kCopies = 8;
  std::unique_ptr<Backend> backend;
  std::vector<std::unique_ptr<Matrix>> matrices;
  Activations in, out;
};

void Linear(benchmark::State& state, DType dtype) {
  const auto rows = static_cast<int>(state.range(0));
  Layer layer(dtype, rows, static_cast<int>(state.range(1)));
  int64_t runs = 0;
  for (auto _ : state) {
    layer.Run(runs++);
  }
  const double weights = double{kInputs} * kOutputs * static_cast<double>(runs);
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(2e-9 * weights * rows, Counter::kIsRate);
  state.counters["weights_GB/s"] =
      Counter(1e-9 * static_cast<double>(BytesOf(dtype, int64_t{kInputs} * kOutputs) * runs), Counter::kIsRate);
}

void Rows(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->ArgNames({"rows", "threads"});
  for (int rows : {1, 4, 12, 256}) benchmark->Args({rows, 1})->Args({rows, 2});
}
BENCHMARK_CAPTURE(Linear, BF16, DType::kBF16)->Apply(Rows);
BENCHMARK_CAPTURE(Linear, Q8_0, DType::kQ8_0)->Apply(Rows);
BENCHMARK_CAPTURE(Linear, F16, DType::kF16)->Apply(Rows);
BENCHMARK_CAPTURE(Linear, F32, DType::kF32)->Apply(Rows);

// One sequence of `context` tokens, of which the last `tokens` are the step's, on 8 KV heads.
void Attention(benchmark::State& state, int heads, int head_dim) {
  const auto tokens = static_cast<int>(state.range(0)), context = static_cast<int>(state.range(1));
  const KvShape shape = {.layers = 16, .kv_heads = 8, .head_dim = head_dim, .block_tokens = 16, .dtype = DType::kBF16};
  const AttentionSpec spec = {.layer = 0, .heads = heads, .scale = 0.125f, .window = 0};
  const auto backend = NewCpuBackend({.threads = static_cast<int>(state.range(2))}).value();
  std::vector<SlotIndex> slots;
  for (int token = 0; token < context; token += shape.block_tokens) slots.push_back(SlotIndex(slots.size()));
  if (!backend->AllocateKv(shape, static_cast<int64_t>(slots.size())).ok()) return state.SkipWithError("no memory");
  std::vector<int32_t> positions;
  for (int position = context - tokens; position < context; ++position) positions.push_back(position);
  const std::vector<TokenId> ids(tokens);
  const std::vector<int32_t> starts = {0, tokens}, lengths = {context},
                             tables = {0, static_cast<int32_t>(slots.size())};
  backend->BeginStep({ids, positions, starts, lengths, slots, tables, {}});
  const Activations q = backend->NewActivations(tokens, spec.heads * shape.head_dim).value();
  const Activations out = backend->NewActivations(tokens, spec.heads * shape.head_dim).value();
  // Pages that were never written to are one shared page of zeros, which no cache would miss.
  const std::vector<std::byte> ones(shape.bytes_per_block(), std::byte{1});
  for (SlotIndex slot : slots) backend->WriteBlock(slot, ones);
  int layer = 0;
  for (auto _ : state) {
    AttentionSpec next = spec;
    next.layer = layer++ % shape.layers;
    backend->Attention(next, q, out);
  }
  const double pairs = tokens * (context - (tokens - 1) / 2.0) * static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.counters["GFLOP/s"] = Counter(4e-9 * pairs * spec.heads * shape.head_dim, Counter::kIsRate);
  const int64_t layer_bytes = shape.bytes_per_token() / shape.layers;  // a token's, in one layer
  state.counters["kv_GB/s"] =
      Counter(1e-9 * static_cast<double>(layer_bytes * context * state.iterations()), Counter::kIsRate);
}
void Contexts(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()
      ->ArgNames({"tokens", "context", "threads"})
      ->ArgsProduct({{1, 32, 256}, {256, 4096}, {1, 2}});
}
BENCHMARK_CAPTURE(Attention, 32x64, 32, 64)->Apply(Contexts);
BENCHMARK_CAPTURE(Attention, 16x128, 16, 128)->Apply(Contexts);

void LoadMatrix(benchmark::State& state, DType dtype) {
  const std::vector<std::byte> bytes = RandomBytes(dtype, int64_t{kOutputs} * kInputs);
  const TensorView tensor = {"benchmark", dtype, {kOutputs, kInputs}, bytes};
  const auto backend = NewCpuBackend({.threads = 2}).value();
  for (auto _ : state) benchmark::DoNotOptimize(backend->LoadMatrix({&tensor, 1}));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}
BENCHMARK_CAPTURE(LoadMatrix, BF16, DType::kBF16)->UseRealTime();
BENCHMARK_CAPTURE(LoadMatrix, Q8_0, DType::kQ8_0)->UseRealTime();

}  // namespace
}  // namespace headstart
