#include <cstdint>

#include "engine/backend/backend.h"

namespace headstart {

int64_t KvShape::bytes_per_token() const {
  constexpr int64_t kKeyAndValue = 2;
  const int64_t bytes = dtype == DType::kF32 ? 4 : 2;
  return int64_t{layers} * kv_heads * head_dim * kKeyAndValue * bytes;
}

}  // namespace headstart
