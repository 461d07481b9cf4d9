// JsonFields: typed reading of a JSON object, such as config.json. The first field that is missing without a fallback,
// or of another type than asked for, becomes status(); reading on is harmless, so a reader checks once at its end. A
// field that is null counts as missing.
//
// Thread-safety: none. A view: the object outlives it.
//
//   JsonFields fields(config, "/models/m/config.json");
//   layers = fields.Int("num_hidden_layers");
//   if (!fields.status().ok()) return fields.status();

#ifndef HEADSTART_ENGINE_MODEL_JSON_FIELDS_H_
#define HEADSTART_ENGINE_MODEL_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

// A JSON document whose root is an object. INVALID_ARGUMENT naming `path` otherwise, or when it is larger than
// `max_bytes`.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text, std::string_view path, size_t max_bytes);

class JsonFields {
 public:
  // REQUIRES: `object` is an object.
  JsonFields(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  // Null when missing.
  const nlohmann::json* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // Without a fallback the field is required.
  int Int(std::string_view name, std::optional<int> fallback = std::nullopt);
  double Number(std::string_view name, std::optional<double> fallback = std::nullopt);
  bool Bool(std::string_view name, bool fallback);
  std::string String(std::string_view name, std::optional<std::string_view> fallback = std::nullopt);

  // One id, or a list of them; negative ones mean "none". Empty when missing.
  std::vector<int32_t> Ids(std::string_view name);

  const absl::Status& status() const { return status_; }
  void Fail(std::string_view name, std::string_view what);

 private:
  const nlohmann::json* Require(std::string_view name, bool optional);

  const nlohmann::json& object_;
  std::string where_;
  absl::Status status_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_MODEL_JSON_FIELDS_H_
