// GgufWriter: makes the header of a GGUF version 3 file: metadata in the order given, then the table of tensors. The
// caller writes Header() and after it each tensor's bytes in the order declared, padded to kGgufAlignment.
//
// Thread-safety: none.
//
//   GgufWriter writer;
//   writer.Add("general.architecture", "llama");
//   writer.AddTensor("token_embd.weight", DType::kF32, {512, 64});
//   out << writer.Header();

#ifndef HEADSTART_ENGINE_MODEL_GGUF_WRITER_H_
#define HEADSTART_ENGINE_MODEL_GGUF_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/gguf.h"
#include "engine/model/tensor.h"

namespace headstart {

// The format's default.
inline constexpr int64_t kGgufAlignment = 32;

// Zero bytes to write after something of that size.
constexpr int64_t GgufPadding(int64_t bytes) { return (kGgufAlignment - bytes % kGgufAlignment) % kGgufAlignment; }

class GgufWriter {
 public:
  void Add(std::string_view key, std::string_view value);
  void Add(std::string_view key, const char* value) { Add(key, std::string_view(value)); }
  void Add(std::string_view key, uint32_t value);
  void Add(std::string_view key, int value) { Add(key, static_cast<uint32_t>(value)); }
  void Add(std::string_view key, float value);
  void Add(std::string_view key, bool value);
  void Add(std::string_view key, std::span<const std::string> values);
  void Add(std::string_view key, std::span<const int32_t> values);

  // `shape` is row-major, outermost first. Offsets follow from the order.
  void AddTensor(std::string_view name, DType dtype, std::span<const int64_t> shape);

  std::string Header() const;

 private:
  void AddKey(std::string_view key, GgufType type);

  std::string metadata_;
  uint64_t metadata_count_ = 0;
  std::string tensors_;
  uint64_t tensor_count_ = 0;
  int64_t next_offset_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_GGUF_WRITER_H_
