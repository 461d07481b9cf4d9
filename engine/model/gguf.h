// GgufFile: the metadata and the tensor table of a GGUF file, versions 2 and 3, little-endian, in one file.
//
// Thread-safety: immutable after Parse.
// Ownership: a view: every string, array and tensor points into the bytes given to Parse, which outlive it.
// Errors: Parse trusts nothing. INVALID_ARGUMENT for what is malformed, truncated or beyond a limit; UNIMPLEMENTED for
// another version, byte order or tensor type, saying what is supported. One sentence with path, field, value and limit.
//
//   auto file = GgufFile::Parse(bytes, "/models/qwen3.gguf");
//   const GgufValue* value = file->Find("general.architecture");

#ifndef HEADSTART_ENGINE_MODEL_GGUF_H_
#define HEADSTART_ENGINE_MODEL_GGUF_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/tensor.h"

namespace headstart {

// Types of metadata values, numbered as in the file.
enum class GgufType : uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};

// The elements as they lie in the file, already checked to be whole; strings are preceded by their 64-bit length.
struct GgufArray {
  GgufType element = GgufType::kUint8;
  uint64_t count = 0;
  std::span<const std::byte> bytes;
};

// Integers and floats of any width, widened.
using GgufValue = std::variant<bool, uint64_t, int64_t, double, std::string_view, GgufArray>;

class GgufFile {
 public:
  static absl::StatusOr<GgufFile> Parse(std::span<const std::byte> bytes, std::string path);

  // Null when there is no such key.
  const GgufValue* Find(std::string_view key) const;

  // In the file's order; names are unique, bytes lie inside the file and do not overlap.
  const std::vector<TensorView>& tensors() const { return tensors_; }

  const std::string& path() const { return path_; }

 private:
  friend class GgufParser;
  std::string path_;
  std::map<std::string_view, GgufValue> metadata_;
  std::vector<TensorView> tensors_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_GGUF_H_
