// Reading JSON in the order of its keys, in time linear in its size. nlohmann's own parser looks through all of an
// object's earlier keys for each further one: a schema of a few megabytes would keep it busy for half an hour.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_SERVICES_ORDERED_JSON_H_
#define HEADSTART_GATEWAY_SERVICES_ORDERED_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

// Of a key that is there twice the first place and the last value stay, as nlohmann's and Python's parsers have it.
// INVALID_ARGUMENT naming `field` when `text` is not an object in JSON, or nests more than 64 levels deep.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedObject(std::string_view text, std::string_view field);

// Puts a member at an object's end, without looking whether it has one of that name.
void AppendMember(nlohmann::ordered_json& object, std::string name, nlohmann::ordered_json value);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_ORDERED_JSON_H_
