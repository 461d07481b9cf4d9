#include "engine/transformer/weights_digest.h"

#include <algorithm>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "xxhash.h"

namespace headstart {

std::string DigestOfTensors(const ModelSource& source) {
  std::vector<std::string> lines;
  for (const TensorView& tensor : source.AllTensors()) {
    const XXH128_hash_t hash = XXH3_128bits(tensor.bytes.data(), tensor.bytes.size());
    lines.push_back(fmt::format("{}:{} {} {} {:016x}{:016x}\n", tensor.name.size(), tensor.name,
                                static_cast<int>(tensor.dtype), tensor.shape, hash.high64, hash.low64));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace headstart
