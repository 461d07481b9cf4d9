// Chat messages, tools and variables of a request as the JSON values that chat templates see.
//
// Thread-safety: free functions over values.
// Errors: INVALID_ARGUMENT naming the field whose JSON text does not parse, is not an object, or nests too deeply.

#ifndef HEADSTART_GATEWAY_SERVICES_CHAT_JSON_H_
#define HEADSTART_GATEWAY_SERVICES_CHAT_JSON_H_

#include "absl/status/statusor.h"
#include "headstart/v1/input.pb.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

// An array of {role, content, ...}; keys that a message does not set are left out, as templates test for them.
absl::StatusOr<nlohmann::ordered_json> MessagesToJson(const v1::ChatInput& chat);

// An array of {type, function: {name, description, parameters}} in canonical order of keys; null without tools.
absl::StatusOr<nlohmann::ordered_json> ToolsToJson(const v1::ChatInput& chat);

// An object, in the order of the names. Numbers without a fraction become integers, as they were before the wire made
// doubles of them.
nlohmann::ordered_json VariablesToJson(const v1::ChatInput& chat);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CHAT_JSON_H_
