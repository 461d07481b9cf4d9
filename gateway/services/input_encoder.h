// InputEncoder: a request's input as the token ids that the model reads.
//
// Thread-safety: Encode may be called from any thread. It takes time with the size of the text, so not on a gRPC
// thread. Ownership: the engine outlives it. Errors: INVALID_ARGUMENT naming the field for ids out of range and JSON
// that does not parse, for tools that the model's template passes over, and for a chat that exceeds its limits;
// FAILED_PRECONDITION when the model's template refuses the messages, in the template's own words.
//
// Text of messages, tools and variables never becomes a control token, whatever it spells: only what the template
// itself wrote does. Raw text may ask for it (parse_special).

#ifndef HEADSTART_GATEWAY_SERVICES_INPUT_ENCODER_H_
#define HEADSTART_GATEWAY_SERVICES_INPUT_ENCODER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "headstart/v1/input.pb.h"
#include "prefix_store/types.h"

namespace headstart {

class InputEncoder {
 public:
  // `now` is what a template that writes the date sees.
  InputEncoder(const Engine& engine, std::function<absl::Time()> now);

  // REQUIRES: CheckInput(input) passed.
  absl::StatusOr<std::vector<TokenId>> Encode(const v1::Input& input) const;

 private:
  std::vector<TokenId> EncodeText(const v1::TextInput& text) const;
  absl::StatusOr<std::vector<TokenId>> EncodeChat(const v1::ChatInput& chat) const;
  absl::StatusOr<std::vector<TokenId>> TakeTokens(const v1::TokensInput& tokens) const;

  const Engine& engine_;
  std::function<absl::Time()> now_;
  const bool takes_tools_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_INPUT_ENCODER_H_
