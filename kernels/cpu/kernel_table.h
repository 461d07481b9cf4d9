// KernelTable: the numeric kernels of one instruction-set path, as functions over raw pointers. Each path is one
// translation unit compiled with its own flags; nothing but this table and the plain structs below crosses between
// them, so that no inline function compiled for a newer processor can be linked into code that runs on an older one.
//
// Thread-safety: pure functions of what they are given; they start no threads, allocate nothing and do no I/O.
// Exactness: each output depends on its own row and, in attention, its own visible keys alone, in an order of additions
// fixed by the sizes of the model: not on the number of rows, a row's place among them, or how outputs are split
// between calls.

#ifndef HEADSTART_KERNELS_CPU_KERNEL_TABLE_H_
#define HEADSTART_KERNELS_CPU_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>

namespace headstart::kernels {

// How packed weights are stored and computed with; see packed_weights.h.
enum class WeightFormat { kBf16, kF32, kF16, kQ8_0 };
inline constexpr int kWeightFormats = 4;

// What a linear kernel does with a finished sum.
enum class Epilogue { kStore, kAddBias, kAddToOutput };

// out[r][c] = Σ_k input[r][k] · weight[c][k] for a run of output groups.
struct LinearCall {
  const std::byte* weights;  // the first group's packed bytes
  int columns;               // outputs to compute; groups are taken 32 at a time, the last may be short
  int k;
  const std::byte* input;     // prepared rows: bf16 pairs, f32 or int8, as to_bf16 and quantize make them
  ptrdiff_t input_stride;     // bytes from row to row
  const float* input_scales;  // kQ8_0: [rows][k / 32]
  const int32_t* input_sums;  // kQ8_0: [rows][k / 32]
  int rows;
  float* out;
  ptrdiff_t out_stride;  // floats from row to row
  Epilogue epilogue;
  const float* bias;  // kAddBias: [columns]
};

// One row of f32 made into what a linear kernel reads.
struct QuantizedRow {
  int8_t* values;  // [k]
  float* scales;   // [k / 32]
  int32_t* sums;   // [k / 32]: of the values, for kernels whose weights carry an offset
};

inline constexpr int kSpanKeys = 256;  // keys that one softmax span reduces; spans are aligned to position 0
inline constexpr int kKeyLanes = 16;   // tokens that lie side by side in packed keys
inline constexpr int kSpanGroups = kSpanKeys / kKeyLanes;
inline constexpr int kScoreStride = kSpanKeys + kKeyLanes;  // padded, so that rows do not share cache sets
inline constexpr int kMaxSpanBlocks = kSpanKeys / 8;
inline constexpr int kMaxTileRows = 48;  // query rows that share a pass over a span

// A tile of query rows of one KV head against one span of keys. Row r sees the keys first[r] .. last[r] − 1 of the
// span.
struct SpanCall {
  const std::byte* queries;  // prepared: [rows][query_stride]: bf16 pairs or f32
  ptrdiff_t query_stride;    // bytes
  int rows;                  // at most kMaxTileRows
  int head_dim;
  float scale;
  const int* first;                    // [rows]
  const int* last;                     // [rows]; first >= last: nothing is visible and the row's results are left alone
  const std::byte* const* key_groups;  // [kSpanGroups]: 16 keys each, or the first 8 with key_lanes 8
  const std::byte* const* key_group_tails;  // [kSpanGroups]: keys 8..15 of each group; only with key_lanes 8
  int key_lanes;                            // 16, or 8 when blocks hold 8 tokens
  const std::byte* const* next_key_groups;  // [kSpanGroups] of the span that follows, to fetch ahead; null: none
  const std::byte* const* value_blocks;     // [blocks in the span]
  int block_tokens_log2;
  float* scores;            // scratch: [rows][kScoreStride]
  float* maxima;            // out: [rows]
  float* sums;              // out: [rows]
  float* outputs;           // out: [rows][output_stride], unnormalised
  ptrdiff_t output_stride;  // floats; head_dim rounded up to 16
};

// A reduced span of one row, or several merged.
struct SoftmaxState {
  float* maximum;
  float* sum;
  float* output;  // [head_dim rounded up to 16]
};

struct KernelTable {
  // Indexed by WeightFormat.
  void (*linear[kWeightFormats])(const LinearCall& call);

  // f32 rows into what linear kernels read. `out` of bf16 is padded with a zero to an even count.
  void (*to_bf16)(const float* in, int count, uint16_t* out);
  void (*quantize)(const float* in, int count, const QuantizedRow& out);  // count is a multiple of 32

  // One span for a tile, keys in bf16 or f32.
  void (*attend_bf16)(const SpanCall& call);
  void (*attend_f32)(const SpanCall& call);
  // state = state ⊕ next, in that order; an empty state is one whose sum is 0.
  void (*merge_softmax)(const SoftmaxState& state, const SoftmaxState& next, int head_dim);
  void (*finish_softmax)(const SoftmaxState& state, int head_dim, float* out);

  // in may be out.
  void (*rms_norm)(const float* in, const float* weight, int count, float epsilon, float* out);
  // Pairs (i, i + pairs), or (2i, 2i + 1) when adjacent.
  void (*rope_halves)(float* head, const float* cosines, const float* sines, int pairs);
  void (*rope_adjacent)(float* head, const float* cosines, const float* sines, int pairs);
  void (*swiglu)(const float* gate, const float* up, int count, float* out);
  // The exponential that attention and swiglu use, for tests: relative error under 2^-22 where the result is normal.
  void (*exp)(const float* in, int count, float* out);
};

const KernelTable& PortableKernels();
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Bf16Kernels();

}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_KERNEL_TABLE_H_
