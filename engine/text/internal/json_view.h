// JsonView: reads a JSON document field by field, keeping the first thing that was wrong with the path to it. Readers
// go on with defaults and look once, at the end, whether all was well.
//
// Thread-safety: none. The document and the status outlive the views.
//
//   absl::Status status;
//   JsonView root(document, "", status);
//   std::string type = root["model"]["type"].String();      // "" and an error if it is no string
//   if (!status.ok()) return status;                          // "model.type is null, expected a string"

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_JSON_VIEW_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_JSON_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

class JsonView {
 public:
  JsonView(const nlohmann::json& value, std::string path, absl::Status& status)
      : value_(&value), path_(std::move(path)), status_(&status) {}

  // A field of an object; one that is missing, or of what is no object, reads as null.
  JsonView operator[](std::string_view key) const;

  bool is_null() const;
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  // What is expected; otherwise an error and an empty value.
  std::string String() const;
  int64_t Integer() const;  // from 0 to INT32_MAX
  std::vector<JsonView> Array() const;
  std::vector<std::pair<std::string, JsonView>> Object() const;

  // The same, where null stands for the default.
  std::string StringOr(std::string_view otherwise) const;
  bool BoolOr(bool otherwise) const;
  std::vector<JsonView> ArrayOrEmpty() const;

  // Records that this field is not acceptable, unless something was wrong before.
  void Invalid(std::string_view what) const;
  void Unimplemented(std::string_view what) const;

 private:
  void Expected(std::string_view what) const;

  const nlohmann::json* value_;
  std::string path_;
  absl::Status* status_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_JSON_VIEW_H_
