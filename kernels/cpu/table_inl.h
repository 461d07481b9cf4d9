// The table of one path, once its simd_*.h has been included.

#ifndef HEADSTART_KERNELS_CPU_TABLE_INL_H_
#define HEADSTART_KERNELS_CPU_TABLE_INL_H_

#include "kernels/cpu/attention_inl.h"
#include "kernels/cpu/kernel_table.h"
#include "kernels/cpu/linear_inl.h"
#include "kernels/cpu/rows_inl.h"

namespace headstart::kernels {
namespace {

constexpr KernelTable kTable = {
    .linear = {Linear<Bf16Format>, Linear<FloatFormat<4>>, Linear<FloatFormat<2>>, Linear<QuadFormat>},
    .to_bf16 = ToBf16,
    .quantize = Quantize,
    .attend_bf16 = AttendSpan<Bf16Kv>,
    .attend_f32 = AttendSpan<F32Kv>,
    .merge_softmax = MergeSoftmax,
    .finish_softmax = FinishSoftmax,
    .rms_norm = RmsNorm,
    .rope_halves = RopeHalves,
    .rope_adjacent = RopeAdjacent,
    .swiglu = SwiGlu,
    .exp = ExpRow,
};

}  // namespace
}  // namespace headstart::kernels

#endif  // HEADSTART_KERNELS_CPU_TABLE_INL_H_
