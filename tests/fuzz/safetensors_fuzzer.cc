// Any bytes as config.json and model.safetensors, divided by the first zero byte: opening them may fail, and must not
// do worse. What opens is read to its last byte.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "engine/model/file_set.h"
#include "engine/model/model_source.h"
#include "engine/model/safetensors.h"
#include "engine/model/synth_tokenizer.h"
#include "engine/model/weights_digest.h"

namespace {

using Files = std::map<std::string, std::span<const std::byte>, std::less<>>;

void Open(const Files& files) {
  const auto model = headstart::OpenModel(headstart::MemoryFiles(files), "fuzz");
  if (!model.ok()) return;
  headstart::WeightsDigest(**model);
  headstart::ComputeRopeFrequencies((*model)->config());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string tokenizer =
      headstart::SynthTokenizerJson(headstart::MakeSynthTokenizer(headstart::kMinSynthVocabulary));
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto divider = static_cast<size_t>(std::find(data, data + size, 0) - data);
  const auto weights = bytes.subspan(std::min(divider + 1, size));
  (void)headstart::ParseSafetensors(weights, "fuzz");  // also where the configuration is refused
  Open({{"config.json", bytes.first(divider)},
        {"model.safetensors", weights},
        {"tokenizer.json", std::as_bytes(std::span(tokenizer))}});
  return 0;
}
