// Any bytes as a GGUF file: opening it may fail, and must not do worse. What opens is read to its last byte.

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/model/file_set.h"
#include "engine/model/model_source.h"
#include "engine/model/weights_digest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto model = headstart::OpenModel(headstart::MemoryFiles({{"model.gguf", bytes}}), "fuzz");
  if (!model.ok()) return 0;
  headstart::WeightsDigest(**model);
  headstart::ComputeRopeFrequencies((*model)->config());
  return 0;
}
