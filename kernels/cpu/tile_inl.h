// How tiles of rows are addressed.

#ifndef HEADSTART_KERNELS_CPU_TILE_INL_H_
#define HEADSTART_KERNELS_CPU_TILE_INL_H_

#include "kernels/cpu/kernel_table.h"

namespace headstart::kernels {
namespace {

constexpr int kLanes = 16;

// Rows in threes share a base, so that twelve rows are addressed with four pointers and one stride.
HEADSTART_INLINE const std::byte* RowAt(const std::byte* const* bases, ptrdiff_t stride, int r) {
  return bases[r / 3] + (r % 3) * stride;
}
template <int R>
struct RowBases {
  const std::byte* at[(R + 2) / 3];
};
template <int R>
HEADSTART_INLINE RowBases<R> BasesOf(const std::byte* input, ptrdiff_t stride) {
  RowBases<R> bases;
  for (int i = 0; i < (R + 2) / 3; ++i) bases.at[i] = input + 3 * i * stride;
  return bases;
}
template <int R>
HEADSTART_INLINE void Advance(RowBases<R>& bases, ptrdiff_t bytes) {
  for (int i = 0; i < (R + 2) / 3; ++i) bases.at[i] += bytes;
}

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_TILE_INL_H_
