// Reads the tensor table of a safetensors file: an 8-byte length, that many bytes of JSON, then the data.
//
// Thread-safety: pure functions.
// Ownership: tensors view the bytes given, which outlive them.
// Errors: nothing is trusted. INVALID_ARGUMENT in one sentence naming path, tensor and limit.

#ifndef HEADSTART_ENGINE_MODEL_SAFETENSORS_H_
#define HEADSTART_ENGINE_MODEL_SAFETENSORS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/tensor.h"

namespace headstart {

struct SafetensorsFile {
  std::vector<TensorView> tensors;  // of the types that are supported, by name
  // Tensors of other types, which matter only to a model that needs them: name to type.
  std::map<std::string, std::string, std::less<>> unsupported;
};

absl::StatusOr<SafetensorsFile> ParseSafetensors(std::span<const std::byte> bytes, std::string_view path);

// Which file holds each tensor, from model.safetensors.index.json.
absl::StatusOr<std::map<std::string, std::string>> ParseSafetensorsIndex(std::string_view text, std::string_view path);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_SAFETENSORS_H_
