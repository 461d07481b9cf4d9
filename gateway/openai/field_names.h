// FieldNames: what the gateway's own fields are called in the body of a request of the OpenAI API, so that an error
// names what its caller wrote. Several names of the API may stand for one field (max_tokens, max_completion_tokens):
// the parser says which one was there.
//
// Thread-safety: as a value.
//
//   FieldNames names;
//   names.Set("max_tokens", "max_completion_tokens");
//   names.Of("input.chat.messages[2].content");   // "messages[2].content"

#ifndef HEADSTART_GATEWAY_OPENAI_FIELD_NAMES_H_
#define HEADSTART_GATEWAY_OPENAI_FIELD_NAMES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace headstart {

class FieldNames {
 public:
  // Those that are the same in every body.
  FieldNames();

  // `ours`, and what lies below it, is called `theirs`.
  void Set(std::string_view ours, std::string_view theirs);

  // A field that has no other name keeps its own.
  std::string Of(std::string_view field) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_FIELD_NAMES_H_
