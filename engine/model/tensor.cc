#include "engine/model/tensor.h"

namespace headstart {

std::string_view DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBF16:
      return "BF16";
    case DType::kQ8_0:
      return "Q8_0";
  }
  return "unknown";
}

int64_t DTypeBytes(DType dtype, int64_t count) {
  switch (dtype) {
    case DType::kF32:
      return count * 4;
    case DType::kF16:
    case DType::kBF16:
      return count * 2;
    case DType::kQ8_0:
      return count / kQ8BlockWeights * kQ8BlockBytes;
  }
  return 0;
}

}  // namespace headstart
