// JSON in and out of templates.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_JSON_VALUE_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_JSON_VALUE_H_

#include <optional>
#include <string>

#include "engine/text/template/text.h"
#include "engine/text/template/value.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart::jinja {

// The value, all strings of which are the caller's. Fails for what nests deeper than kMaxNesting.
Value FromJson(const nlohmann::ordered_json& json);

// As FromJson, for the messages of a chat: a message's role is trusted if it is one of the words that templates build
// control tokens from. `{{ '<|' + message['role'] + '|>' }}` spells one; a caller must not be able to spell others.
Value MessagesFromJson(const nlohmann::ordered_json& messages);

// How json.dumps writes a value, with the arguments that the tojson filter of Hugging Face takes.
struct DumpOptions {
  std::optional<Text> indent;  // what each level is indented by; nothing for one line
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

// Fails for what JSON has no words for, and with RESOURCE_EXHAUSTED beyond `max_bytes`. With one byte of the caller's
// inside, all of it is.
Text ToJson(const Value& value, const DumpOptions& options, size_t max_bytes);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_JSON_VALUE_H_
