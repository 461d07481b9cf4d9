// BodyFields: the fields of a JSON object, read by name and type. The first field that is wrong decides the status;
// what is read after it no longer matters.
//
// Thread-safety: none. The object outlives it.
// Errors: INVALID_ARGUMENT naming the field. null is the same as a field that is missing.
//
//   BodyFields fields(body);
//   auto temperature = fields.Number("temperature");   // nullopt when it is missing, or wrong
//   if (!fields.status().ok()) return fields.status();

#ifndef HEADSTART_GATEWAY_OPENAI_BODY_FIELDS_H_
#define HEADSTART_GATEWAY_OPENAI_BODY_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

class BodyFields {
 public:
  // `path` is what the object itself is called, such as "messages[0]"; empty for the whole body.
  explicit BodyFields(const nlohmann::json& object, std::string path = "");

  std::optional<double> Number(std::string_view name);
  std::optional<int64_t> Integer(std::string_view name);
  std::optional<bool> Bool(std::string_view name);
  std::optional<std::string> String(std::string_view name);
  // Of any type; null without it.
  const nlohmann::json* Any(std::string_view name) const;
  // Null without it, and when it is something else.
  const nlohmann::json* Object(std::string_view name);
  const nlohmann::json* List(std::string_view name);

  // INVALID_ARGUMENT when there is a field of another name: of an object that is this server's own, where it can only
  // be a mistake.
  void TakeOnly(std::initializer_list<std::string_view> names);

  // INVALID_ARGUMENT when there is such a field: this server does not do that.
  void Refuse(std::string_view name, std::string_view why);
  void Fail(std::string_view name, std::string_view why);
  void Fail(const absl::Status& status) { status_.Update(status); }

  std::string PathOf(std::string_view name) const;
  const absl::Status& status() const { return status_; }

 private:
  const nlohmann::json& object_;
  const std::string path_;
  absl::Status status_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_BODY_FIELDS_H_
