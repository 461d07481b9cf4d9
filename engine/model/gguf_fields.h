// GgufFields: typed reading of GGUF metadata. The first field that is missing without a fallback, or of another type
// than asked for, becomes status(); reading on is harmless, so a reader checks once at its end.
//
// Thread-safety: none. A view: the file outlives it.
//
//   GgufFields fields(file);
//   config.layers = fields.Int("llama.block_count");
//   config.rope_theta = fields.Number("llama.rope.freq_base", 10000);
//   if (!fields.status().ok()) return fields.status();

#ifndef HEADSTART_ENGINE_MODEL_GGUF_FIELDS_H_
#define HEADSTART_ENGINE_MODEL_GGUF_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/gguf.h"

namespace headstart {

class GgufFields {
 public:
  explicit GgufFields(const GgufFile& file) : file_(file) {}

  bool Has(std::string_view key) const { return file_.Find(key) != nullptr; }

  // Without a fallback the field is required.
  int Int(std::string_view key, std::optional<int> fallback = std::nullopt);
  double Number(std::string_view key, std::optional<double> fallback = std::nullopt);
  bool Bool(std::string_view key, bool fallback);
  std::string String(std::string_view key, std::optional<std::string_view> fallback = std::nullopt);

  // An unsigned id that may be missing.
  std::optional<int32_t> Id(std::string_view key);

  // Empty when missing.
  std::vector<std::string> Strings(std::string_view key);
  std::vector<float> Floats(std::string_view key);
  std::vector<int32_t> Ints(std::string_view key);

  const absl::Status& status() const { return status_; }

 private:
  const GgufValue* Require(std::string_view key, bool optional);
  const GgufArray* Array(std::string_view key, GgufType element, std::string_view what);
  void Fail(std::string_view key, std::string_view what);

  const GgufFile& file_;
  absl::Status status_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_GGUF_FIELDS_H_
