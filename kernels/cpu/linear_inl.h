// The linear kernels over the vocabulary of simd_*.h: one tile of R rows × G groups of 32 outputs at a time, each sum
// over K in order in one accumulator of its own. R and G change how many sums run side by side, never the additions of
// one sum.

#ifndef HEADSTART_KERNELS_CPU_LINEAR_INL_H_
#define HEADSTART_KERNELS_CPU_LINEAR_INL_H_

#include "kernels/cpu/kernel_table.h"
#include "kernels/cpu/tile_inl.h"

namespace headstart::kernels {
namespace {

constexpr int kOutputsPerGroup = 32;
constexpr int kHalves = kOutputsPerGroup / kLanes;

// Weights that a block of groups may take so that it stays in the second-level cache while all rows pass over it.
constexpr ptrdiff_t kBlockBytes = 384 << 10;

// A tile's place in the call.
struct TilePlace {
  const std::byte* weights;
  const std::byte* input;
  int row;
};

// Sums[r][h] of R rows and H vectors of 16 outputs.
template <int R, int G>
using TileSums = F[R][G * kHalves];

template <int R, int G>
HEADSTART_INLINE void ClearSums(TileSums<R, G>& sums) {
  for (int r = 0; r < R; ++r) {
    for (int h = 0; h < G * kHalves; ++h) sums[r][h] = Zero();
  }
}

struct Bf16Format {
  static constexpr int kRows = kTileRows;
  static constexpr int Groups(int rows) { return TileGroups(rows); }
  static constexpr ptrdiff_t kStepBytes = kOutputsPerGroup * 4;
  HEADSTART_INLINE ptrdiff_t GroupBytes(int k) { return (k + 1) / 2 * kStepBytes; }

  template <int R, int G>
  HEADSTART_INLINE void Sum(const LinearCall& call, const TilePlace& place, TileSums<R, G>& sums) {
    const ptrdiff_t group_bytes = GroupBytes(call.k);
    const ptrdiff_t stride = call.input_stride;
    RowBases<R> rows = BasesOf<R>(place.input, stride);
    const std::byte* w = place.weights;
    for (int pair = 0; pair < (call.k + 1) / 2; ++pair) {
      BfWeights weights[G * kHalves];
      for (int h = 0; h < G * kHalves; ++h) weights[h] = LoadPairs(w + h / kHalves * group_bytes + h % kHalves * 64);
      for (int r = 0; r < R; ++r) {
        const BfInput x = BroadcastPair(RowAt(rows.at, stride, r));
        for (int h = 0; h < G * kHalves; ++h) sums[r][h] = DotPairs(sums[r][h], weights[h], x);
      }
      w += kStepBytes;
      Advance<R>(rows, 4);
    }
  }
};

// f32 and f16 weights on f32 inputs.
template <int Bytes>
struct FloatFormat {
  static constexpr int kRows = kTileRows;
  static constexpr int Groups(int rows) { return TileGroups(rows); }
  static constexpr ptrdiff_t kStepBytes = kOutputsPerGroup * Bytes;
  HEADSTART_INLINE ptrdiff_t GroupBytes(int k) { return k * kStepBytes; }
  HEADSTART_INLINE F LoadWeights(const std::byte* w) {
    if constexpr (Bytes == 4)
      return Load(reinterpret_cast<const float*>(w));
    else
      return LoadF16(reinterpret_cast<const uint16_t*>(w));
  }

  template <int R, int G>
  HEADSTART_INLINE void Sum(const LinearCall& call, const TilePlace& place, TileSums<R, G>& sums) {
    const ptrdiff_t group_bytes = GroupBytes(call.k);
    const ptrdiff_t stride = call.input_stride;
    RowBases<R> rows = BasesOf<R>(place.input, stride);
    const std::byte* w = place.weights;
    for (int k = 0; k < call.k; ++k) {
      F weights[G * kHalves];
      for (int h = 0; h < G * kHalves; ++h) {
        weights[h] = LoadWeights(w + h / kHalves * group_bytes + h % kHalves * (kLanes * Bytes));
      }
      for (int r = 0; r < R; ++r) {
        const F x = Set1(*reinterpret_cast<const float*>(RowAt(rows.at, stride, r)));
        for (int h = 0; h < G * kHalves; ++h) sums[r][h] = Fma(weights[h], x, sums[r][h]);
      }
      w += kStepBytes;
      Advance<R>(rows, 4);
    }
  }
};

// Integer products are exact; each block of 32 adds (its integer sum) · (weight scale · input scale), blocks in order.
struct QuadFormat {
  static constexpr int kRows = kQuadTileRows;
  static constexpr int Groups(int rows) { return QuadTileGroups(rows); }
  static constexpr int kBlock = 32;
  static constexpr int kQuads = kBlock / 4;
  static constexpr ptrdiff_t kScalesAt = kOutputsPerGroup * kBlock;
  static constexpr ptrdiff_t kStepBytes = kScalesAt + kOutputsPerGroup * 2;
  HEADSTART_INLINE ptrdiff_t GroupBytes(int k) { return k / kBlock * kStepBytes; }

  template <int R, int G>
  HEADSTART_INLINE void Sum(const LinearCall& call, const TilePlace& place, TileSums<R, G>& sums) {
    const ptrdiff_t group_bytes = GroupBytes(call.k);
    const ptrdiff_t stride = call.input_stride;
    const int blocks = call.k / kBlock;
    const float* scales = call.input_scales + static_cast<ptrdiff_t>(place.row) * blocks;
    const int32_t* input_sums = call.input_sums + static_cast<ptrdiff_t>(place.row) * blocks;
    RowBases<R> rows = BasesOf<R>(place.input, stride);
    const std::byte* w = place.weights;
    for (int block = 0; block < blocks; ++block) {
      I whole[R][G * kHalves];
      for (int r = 0; r < R; ++r) {
        for (int h = 0; h < G * kHalves; ++h) whole[r][h] = QuadStart(input_sums[r * blocks + block]);
      }
      for (int quad = 0; quad < kQuads; ++quad) {
        QuadWeights weights[G * kHalves];
        for (int h = 0; h < G * kHalves; ++h) {
          weights[h] = LoadQuads(w + h / kHalves * group_bytes + (quad * kHalves + h % kHalves) * 64);
        }
        for (int r = 0; r < R; ++r) {
          const QuadInput x = BroadcastQuad(RowAt(rows.at, stride, r) + quad * 4);
          for (int h = 0; h < G * kHalves; ++h) whole[r][h] = DotQuads(whole[r][h], weights[h], x);
        }
      }
      for (int h = 0; h < G * kHalves; ++h) {
        const std::byte* at = w + h / kHalves * group_bytes + kScalesAt + h % kHalves * (kLanes * 2);
        const F weight_scale = LoadF16(reinterpret_cast<const uint16_t*>(at));
        for (int r = 0; r < R; ++r) {
          const F scale = Mul(weight_scale, Set1(scales[r * blocks + block]));
          sums[r][h] = Fma(ToFloat(whole[r][h]), scale, sums[r][h]);
        }
      }
      w += kStepBytes;
      Advance<R>(rows, kBlock);
    }
  }
};

// Sixteen sums, of which the first `count` exist, to out[0 ..].
HEADSTART_INLINE void StoreSums(const LinearCall& call, F sum, int column, int count, float* out) {
  if (count <= 0) return;
  const float* other = call.epilogue == Epilogue::kAddBias ? call.bias + column : out;
  if (count >= kLanes) {
    Store(out, call.epilogue == Epilogue::kStore ? sum : Add(Load(other), sum));
  } else {
    StoreFirst(out, call.epilogue == Epilogue::kStore ? sum : Add(LoadFirst(other, count), sum), count);
  }
}

template <class Format, int R, int G>
void Tile(const LinearCall& call, int row, int group) {
  TileSums<R, G> sums;
  ClearSums<R, G>(sums);
  const TilePlace place = {call.weights + group * Format::GroupBytes(call.k), call.input + row * call.input_stride,
                           row};
  Format::template Sum<R, G>(call, place, sums);
  for (int r = 0; r < R; ++r) {
    float* out = call.out + (row + r) * call.out_stride;
    for (int h = 0; h < G * kHalves; ++h) {
      const int column = group * kOutputsPerGroup + h * kLanes;
      StoreSums(call, sums[r][h], column, call.columns - column, out + column);
    }
  }
}

// R rows against groups first .. last − 1.
template <class Format, int R>
void RowsByGroups(const LinearCall& call, int row, int first, int last) {
  constexpr int kTogether = Format::Groups(R);
  int group = first;
  for (; group + kTogether <= last; group += kTogether) Tile<Format, R, kTogether>(call, row, group);
  for (; group < last; ++group) Tile<Format, R, 1>(call, row, group);
}

// The rows left over after whole tiles: picks the instance for their number.
template <class Format, int R>
HEADSTART_INLINE void LastRows(const LinearCall& call, int row, int first, int last) {
  if constexpr (R > 0) {
    if (call.rows - row == R) return RowsByGroups<Format, R>(call, row, first, last);
    LastRows<Format, R - 1>(call, row, first, last);
  }
}

template <class Format>
void Linear(const LinearCall& call) {
  const int groups = (call.columns + kOutputsPerGroup - 1) / kOutputsPerGroup;
  const int fit = static_cast<int>(kBlockBytes / Format::GroupBytes(call.k));
  // Rows of one tile read each weight once, whatever the block.
  const int block = call.rows <= Format::kRows ? groups : fit < 1 ? 1 : fit;
  for (int first = 0; first < groups; first += block) {
    const int last = first + block < groups ? first + block : groups;
    int row = 0;
    for (; row + Format::kRows <= call.rows; row += Format::kRows) {
      RowsByGroups<Format, Format::kRows>(call, row, first, last);
    }
    LastRows<Format, Format::kRows - 1>(call, row, first, last);
  }
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_LINEAR_INL_H_
