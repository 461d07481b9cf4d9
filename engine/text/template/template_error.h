// How evaluation fails inside this folder: one exception, thrown by the operation that cannot go on and caught by the
// facade, which turns it into a Status. It never leaves the folder. (Nearly every line of an interpreter can fail; a
// StatusOr at each would hide what the line does.)

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_TEMPLATE_ERROR_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_TEMPLATE_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace headstart::jinja {

class TemplateError {
 public:
  TemplateError(absl::StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  absl::StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  absl::StatusCode code_;
  std::string message_;
};

// The template asks for what its values cannot give, such as an attribute of an undefined name.
[[noreturn]] inline void Fail(std::string message) {
  throw TemplateError(absl::StatusCode::kInvalidArgument, std::move(message));
}

// A limit stopped the template; `message` names it.
[[noreturn]] inline void FailLimit(std::string message) {
  throw TemplateError(absl::StatusCode::kResourceExhausted, std::move(message));
}

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_TEMPLATE_ERROR_H_
