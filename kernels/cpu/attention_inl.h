// Attention of a tile of query rows over one span of keys. The span is the unit of exactness: a row's scores, its
// maximum, its sum and its weighted values over a span depend on the row and the span's visible keys alone, and spans
// are merged in order by the caller; so a result does not depend on which rows share the tile.
//
// Keys that a row does not see may hold anything, NaN too: their scores are replaced before use and their values never
// touched.

#ifndef HEADSTART_KERNELS_CPU_ATTENTION_INL_H_
#define HEADSTART_KERNELS_CPU_ATTENTION_INL_H_

#include "kernels/cpu/kernel_table.h"
#include "kernels/cpu/rows_inl.h"
#include "kernels/cpu/tile_inl.h"

namespace headstart::kernels {
namespace {

// Both KV dtypes walk keys in steps of four bytes a lane: a pair of bf16 dimensions, or one f32.
constexpr int kStepBytes = 4;

struct Bf16Kv {
  using Value = uint16_t;
  HEADSTART_INLINE int Steps(int head_dim) { return head_dim / 2; }
  HEADSTART_INLINE BfWeights LoadKeys(const std::byte* p) { return LoadPairs(p); }
  HEADSTART_INLINE BfWeights LoadKeys(const std::byte* low, const std::byte* high) { return LoadPairs(low, high); }
  HEADSTART_INLINE BfInput Query(const std::byte* p) { return BroadcastPair(p); }
  HEADSTART_INLINE F Dot(F sum, BfWeights keys, BfInput query) { return DotPairs(sum, keys, query); }
  HEADSTART_INLINE F LoadValues(const std::byte* p) { return LoadBf16(reinterpret_cast<const uint16_t*>(p)); }
};

struct F32Kv {
  using Value = float;
  HEADSTART_INLINE int Steps(int head_dim) { return head_dim; }
  HEADSTART_INLINE const float* Floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }
  HEADSTART_INLINE F LoadKeys(const std::byte* p) { return Load(Floats(p)); }
  HEADSTART_INLINE F LoadKeys(const std::byte* low, const std::byte* high) { return Load(Floats(low), Floats(high)); }
  HEADSTART_INLINE F Query(const std::byte* p) { return Set1(*Floats(p)); }
  HEADSTART_INLINE F Dot(F sum, F keys, F query) { return Fma(keys, query, sum); }
  HEADSTART_INLINE F LoadValues(const std::byte* p) { return Load(Floats(p)); }
};

// Few rows wait for memory, not for arithmetic: while they read keys they fetch the same tokens' values, and while they
// read values the next span's keys. Each head's run in a block is too short for the processor's own prefetchers to get
// going.
constexpr bool FetchesAhead(int rows) { return rows <= 8; }

// Values of the 16 keys of a group; they are as many bytes as the keys.
HEADSTART_INLINE const std::byte* GroupValues(const SpanCall& call, int group, ptrdiff_t token_bytes) {
  const int key = group * kKeyLanes;
  const int in_block = key & ((1 << call.block_tokens_log2) - 1);
  return call.value_blocks[key >> call.block_tokens_log2] + in_block * token_bytes;
}

HEADSTART_INLINE float* ScoresOf(const SpanCall& call, int row) { return call.scores + row * kScoreStride; }

// Scores of R rows against G groups of 16 keys. Lanes is 16, or 8 when a group's halves lie in two blocks.
template <class Kv, int Lanes, int R, int G>
void ScoreTile(const SpanCall& call, int row, int group) {
  F sums[R][G];
  for (int r = 0; r < R; ++r) {
    for (int g = 0; g < G; ++g) sums[r][g] = Zero();
  }
  const std::byte* keys[G];
  const std::byte* tails[G];
  for (int g = 0; g < G; ++g) {
    keys[g] = call.key_groups[group + g];
    tails[g] = Lanes == kKeyLanes ? nullptr : call.key_group_tails[group + g];
  }
  constexpr bool kFetch = FetchesAhead(R) && Lanes == kKeyLanes;
  const std::byte* values[G];
  if constexpr (kFetch) {
    const ptrdiff_t token_bytes = call.head_dim * static_cast<ptrdiff_t>(sizeof(typename Kv::Value));
    for (int g = 0; g < G; ++g) values[g] = GroupValues(call, group + g, token_bytes);
  }
  RowBases<R> rows = BasesOf<R>(call.queries + row * call.query_stride, call.query_stride);
  const int steps = Kv::Steps(call.head_dim);
  for (int step = 0; step < steps; ++step) {
    const ptrdiff_t at = static_cast<ptrdiff_t>(step) * (Lanes * kStepBytes);
    decltype(Kv::LoadKeys(keys[0])) packed[G];
    for (int g = 0; g < G; ++g) {
      if constexpr (Lanes == kKeyLanes)
        packed[g] = Kv::LoadKeys(keys[g] + at);
      else
        packed[g] = Kv::LoadKeys(keys[g] + at, tails[g] + at);
      if constexpr (kFetch) __builtin_prefetch(values[g] + at);
    }
    for (int r = 0; r < R; ++r) {
      const auto query = Kv::Query(RowAt(rows.at, call.query_stride, r));
      for (int g = 0; g < G; ++g) sums[r][g] = Kv::Dot(sums[r][g], packed[g], query);
    }
    Advance<R>(rows, kStepBytes);
  }
  const F scale = Set1(call.scale);
  for (int r = 0; r < R; ++r) {
    for (int g = 0; g < G; ++g) Store(ScoresOf(call, row + r) + (group + g) * kKeyLanes, Mul(sums[r][g], scale));
  }
}

template <class Kv, int R, int G>
HEADSTART_INLINE void ScoreGroups(const SpanCall& call, int row, int group) {
  if (call.key_lanes == kKeyLanes) return ScoreTile<Kv, kKeyLanes, R, G>(call, row, group);
  ScoreTile<Kv, kKeyLanes / 2, R, G>(call, row, group);
}

// Weights = exp(score − maximum) where visible and 0 elsewhere, over the whole groups that the row's range touches.
HEADSTART_INLINE void SoftmaxRow(const SpanCall& call, int row) {
  const int first = call.first[row], last = call.last[row];
  float* scores = ScoresOf(call, row);
  const F lowest = Set1(-__builtin_inff());
  F max = lowest;
  const auto visible = [&](int key) __attribute__((always_inline)) {
    return LaneRange(first > key ? first - key : 0, last - key < kKeyLanes ? last - key : kKeyLanes);
  };
  const int start = first / kKeyLanes * kKeyLanes;
  for (int key = start; key < last; key += kKeyLanes) max = Max(max, Select(visible(key), Load(scores + key), lowest));
  const float maximum = MaxLane(max);
  F sum = Zero();
  for (int key = start; key < last; key += kKeyLanes) {
    const F weights = Select(visible(key), Exp(Sub(Load(scores + key), Set1(maximum))), Zero());
    Store(scores + key, weights);
    sum = Add(sum, weights);
  }
  call.maxima[row] = maximum;
  call.sums[row] = AddLanes(sum);
}

// While a key's values are read, as many bytes at the same place of the next span's keys.
template <size_t Bytes>
HEADSTART_INLINE void FetchNextKeys(const SpanCall& call, int key, ptrdiff_t token_bytes, ptrdiff_t offset) {
  constexpr size_t kLine = 64;
  if (call.next_key_groups == nullptr) return;
  const std::byte* next = call.next_key_groups[key / kKeyLanes] + key % kKeyLanes * token_bytes + offset;
  for (size_t at = 0; at < Bytes; at += kLine) __builtin_prefetch(next + at);
}

// outputs += weights · values over keys first .. last − 1 in order, for R rows and D vectors of 16 dimensions from
// `dim`.
template <class Kv, int R, int D>
HEADSTART_INLINE void ValueTile(const SpanCall& call, int row, int dim, int first, int last) {
  F sums[R][D];
  for (int r = 0; r < R; ++r) {
    for (int d = 0; d < D; ++d) sums[r][d] = Load(call.outputs + (row + r) * call.output_stride + dim + d * kLanes);
  }
  const ptrdiff_t token_bytes = call.head_dim * static_cast<ptrdiff_t>(sizeof(typename Kv::Value));
  const ptrdiff_t dim_bytes = dim * static_cast<ptrdiff_t>(sizeof(typename Kv::Value));
  const float* weights = ScoresOf(call, row);
  const int block_tokens = 1 << call.block_tokens_log2;
  for (int key = first; key < last;) {
    const int block = key >> call.block_tokens_log2;
    const int block_end = (block + 1) << call.block_tokens_log2;
    const int end = block_end < last ? block_end : last;
    const std::byte* values = call.value_blocks[block] + (key & (block_tokens - 1)) * token_bytes + dim_bytes;
    for (; key < end; ++key, values += token_bytes) {
      if constexpr (FetchesAhead(R))
        FetchNextKeys<D * kLanes * sizeof(typename Kv::Value)>(call, key, token_bytes, dim_bytes);
      F value[D];
      for (int d = 0; d < D; ++d) {
        value[d] = Kv::LoadValues(values + d * kLanes * static_cast<ptrdiff_t>(sizeof(typename Kv::Value)));
      }
      for (int r = 0; r < R; ++r) {
        const F weight = Set1(weights[r * kScoreStride + key]);
        for (int d = 0; d < D; ++d) sums[r][d] = Fma(value[d], weight, sums[r][d]);
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int d = 0; d < D; ++d) Store(call.outputs + (row + r) * call.output_stride + dim + d * kLanes, sums[r][d]);
  }
}

template <class Kv, int R>
void AddValues(const SpanCall& call, int row, int first, int last) {
  if (first >= last) return;
  constexpr int kTogether = TileGroups(R) * 2;
  int dim = 0;
  for (; dim + kTogether * kLanes <= call.head_dim; dim += kTogether * kLanes) {
    ValueTile<Kv, R, kTogether>(call, row, dim, first, last);
  }
  for (; dim < call.head_dim; dim += kLanes) ValueTile<Kv, R, 1>(call, row, dim, first, last);
}

// Values for R rows: the keys that all of them see in one pass, what only some see row by row. Each row still adds its
// keys in order.
template <class Kv, int R>
HEADSTART_INLINE void WeighValues(const SpanCall& call, int row) {
  const int shared_first = call.first[row + R - 1], shared_last = call.last[row];
  if (shared_first >= shared_last) {
    for (int r = row; r < row + R; ++r) AddValues<Kv, 1>(call, r, call.first[r], call.last[r]);
    return;
  }
  for (int r = row; r < row + R; ++r) AddValues<Kv, 1>(call, r, call.first[r], shared_first);
  AddValues<Kv, R>(call, row, shared_first, shared_last);
  for (int r = row; r < row + R; ++r) AddValues<Kv, 1>(call, r, shared_last, call.last[r]);
}

template <class Kv, int R>
void AttendRows(const SpanCall& call, int row) {
  constexpr int kTogether = TileGroups(R) * 2;
  int group = call.first[row] / kKeyLanes;
  const int groups = (call.last[row + R - 1] + kKeyLanes - 1) / kKeyLanes;
  for (; group + kTogether <= groups; group += kTogether) ScoreGroups<Kv, R, kTogether>(call, row, group);
  for (; group < groups; ++group) ScoreGroups<Kv, R, 1>(call, row, group);
  for (int r = row; r < row + R; ++r) {
    SoftmaxRow(call, r);
    float* output = call.outputs + r * call.output_stride;
    for (int dim = 0; dim < call.head_dim; dim += kLanes) Store(output + dim, Zero());
  }
  WeighValues<Kv, R>(call, row);
}

template <class Kv, int R>
HEADSTART_INLINE void AttendLastRows(const SpanCall& call, int row, int rows) {
  if constexpr (R > 0) {
    if (rows == R) return AttendRows<Kv, R>(call, row);
    AttendLastRows<Kv, R - 1>(call, row, rows);
  }
}

// Rows come in order of position, so those that see nothing of the span are the first ones (the span is ahead of them)
// or the last ones (it has left their window).
template <class Kv>
void AttendSpan(const SpanCall& call) {
  int row = 0, end = call.rows;
  while (row < end && call.first[row] >= call.last[row]) ++row;
  while (end > row && call.first[end - 1] >= call.last[end - 1]) --end;
  for (; row + kTileRows <= end; row += kTileRows) AttendRows<Kv, kTileRows>(call, row);
  AttendLastRows<Kv, kTileRows - 1>(call, row, end - row);
}

void MergeSoftmax(const SoftmaxState& state, const SoftmaxState& next, int head_dim) {
  if (*state.sum == 0) {
    *state.maximum = *next.maximum;
    *state.sum = *next.sum;
    for (int dim = 0; dim < head_dim; dim += kLanes) Store(state.output + dim, Load(next.output + dim));
    return;
  }
  const float maximum = *state.maximum > *next.maximum ? *state.maximum : *next.maximum;
  const float keep = Exp1(*state.maximum - maximum), take = Exp1(*next.maximum - maximum);
  *state.maximum = maximum;
  *state.sum = *state.sum * keep + *next.sum * take;
  for (int dim = 0; dim < head_dim; dim += kLanes) {
    Store(state.output + dim, Fma(Load(next.output + dim), Set1(take), Mul(Load(state.output + dim), Set1(keep))));
  }
}

void FinishSoftmax(const SoftmaxState& state, int head_dim, float* out) {
  const F sum = Set1(*state.sum);
  int dim = 0;
  for (; dim + kLanes <= head_dim; dim += kLanes) Store(out + dim, Div(Load(state.output + dim), sum));
  if (dim < head_dim) StoreFirst(out + dim, Div(Load(state.output + dim), sum), head_dim - dim);
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_ATTENTION_INL_H_
