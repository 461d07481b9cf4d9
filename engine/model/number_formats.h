// Rounding of 32-bit floats to the types of model files.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_ENGINE_MODEL_NUMBER_FORMATS_H_
#define HEADSTART_ENGINE_MODEL_NUMBER_FORMATS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/model/tensor.h"

namespace headstart {

// To nearest, ties to even. Overflow gives infinity; NaN stays one.
uint16_t ToBF16(float value);
uint16_t ToF16(float value);

// The float that it stands for, exactly.
float FromBF16(uint16_t bits);
float FromF16(uint16_t bits);

// Encodes a row of weights. Q8_0 as ggml does: for each 32 weights a scale of the largest magnitude / 127, rounded to
// f16, and weight / scale rounded to the nearest integer, ties away from zero. REQUIRES: bytes.size() ==
// DTypeBytes(dtype, row.size()).
void EncodeRow(DType dtype, std::span<const float> row, std::span<std::byte> bytes);

// The values that the bytes of a row stand for. REQUIRES: as above.
void DecodeRow(DType dtype, std::span<const std::byte> bytes, std::span<float> row);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_NUMBER_FORMATS_H_
