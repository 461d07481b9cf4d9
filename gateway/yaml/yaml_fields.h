// YamlFields: one map of a YAML file, read field by field with errors that name the line. YAML alone takes what is
// misspelt or given twice in silence; here both are refused.
//
// Thread-safety: none; for one parse.
// Ownership: shares the document with the node it was made of.
// Errors: INVALID_ARGUMENT "line 4: keys[1] has the unknown field \"tenent\"; known are id, tenant".

#ifndef HEADSTART_GATEWAY_YAML_YAML_FIELDS_H_
#define HEADSTART_GATEWAY_YAML_YAML_FIELDS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "yaml-cpp/yaml.h"

namespace headstart {

// The document; null for an empty text. Never throws.
absl::StatusOr<YAML::Node> ParseYaml(const std::string& text);

// The beginning of what a file says, fit for a message: without bytes that a terminal or a log would act on.
std::string Shown(std::string_view text);

// INVALID_ARGUMENT with the node's line in front.
absl::Status ErrorAt(const YAML::Node& node, std::string_view what);

class YamlFields {
 public:
  // `what` names the map in messages, such as "keys[1]". A null node is a map without fields. Nothing known: any field
  // may be there.
  static absl::StatusOr<YamlFields> Of(const YAML::Node& node, std::string what, std::vector<std::string_view> known);

  // The node of a field that is there and not null.
  std::optional<YAML::Node> Find(std::string_view field) const;

  // A field's text as it is written. Refused when it is no text; when it is missing or empty, unless there is a
  // default.
  absl::StatusOr<std::string> Text(std::string_view field) const;
  absl::StatusOr<std::string> Text(std::string_view field, std::string_view otherwise) const;

  // A field's list; empty when it is missing.
  absl::StatusOr<std::vector<YAML::Node>> List(std::string_view field) const;

  // An error about a field's value, at its line: "line 4: keys[1].sha256 is ...".
  absl::Status Wrong(std::string_view field, std::string_view why) const;

  const std::map<std::string, YAML::Node, std::less<>>& fields() const { return fields_; }

 private:
  YamlFields(const YAML::Node& node, std::string what) : node_(node), what_(std::move(what)) {}

  YAML::Node node_;
  std::string what_;
  std::map<std::string, YAML::Node, std::less<>> fields_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_YAML_YAML_FIELDS_H_
