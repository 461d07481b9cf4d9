// What a request used and cost, as `usage` of an answer.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_OPENAI_USAGE_JSON_H_
#define HEADSTART_GATEWAY_OPENAI_USAGE_JSON_H_

#include <string>
#include <vector>

#include "gateway/services/generation_session.h"
#include "nlohmann/json_fwd.hpp"

namespace headstart {

struct ChoiceUsage {
  std::string request_id;
  SessionEvents::Finished finished;
};

// OpenAI's fields, and `headstart` beside them. Of several choices, as OpenAI counts: the prompt once, as the first
// choice found it, and the answers of all; `headstart.requests` has each choice as the account has it. REQUIRES: at
// least one.
nlohmann::ordered_json UsageJson(const std::vector<ChoiceUsage>& choices);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_USAGE_JSON_H_
