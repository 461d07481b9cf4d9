#include "engine/model/weights_digest.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace headstart {
namespace {

class Digest {
 public:
  Digest() { XXH3_128bits_reset(state_.get()); }

  void Add(const void* data, size_t size) { XXH3_128bits_update(state_.get(), data, size); }
  void Add(int64_t value) { Add(&value, sizeof(value)); }

  // Lengths come before what they measure, so that no two lists of tensors give one stream.
  void Add(const TensorView& tensor) {
    Add(static_cast<int64_t>(tensor.name.size()));
    Add(tensor.name.data(), tensor.name.size());
    Add(static_cast<int64_t>(tensor.dtype));
    Add(static_cast<int64_t>(tensor.shape.size()));
    for (const int64_t dimension : tensor.shape) Add(dimension);
    Add(static_cast<int64_t>(tensor.bytes.size()));
    Add(tensor.bytes.data(), tensor.bytes.size());
  }

  Fingerprint Finish() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {.high = hash.high64, .low = hash.low64};
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

}  // namespace

Fingerprint WeightsDigest(const ModelSource& source) {
  std::vector<TensorView> tensors = source.AllTensors();
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  Digest digest;
  for (const TensorView& tensor : tensors) digest.Add(tensor);
  return digest.Finish();
}

}  // namespace headstart
