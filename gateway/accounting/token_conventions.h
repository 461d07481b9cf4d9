// The two ways in which the field counts cached prompt tokens. Ours, like OpenAI's, counts them inside the prompt;
// Anthropic's input_tokens leaves them out. Both are given wherever figures leave the server, so that nobody adds or
// subtracts the wrong ones.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_TOKEN_CONVENTIONS_H_
#define HEADSTART_GATEWAY_ACCOUNTING_TOKEN_CONVENTIONS_H_

#include <cstdint>

#include "headstart/v1/usage.pb.h"

namespace headstart {

// The cached part is inside the input figure.
struct InclusiveTokens {
  int64_t prompt_tokens = 0;  // total
  int64_t cached_tokens = 0;  // of those
};

// The total is the sum of the three.
struct ExclusiveTokens {
  int64_t input_tokens = 0;  // neither read from the cache nor written to it
  int64_t cache_read_input_tokens = 0;
  int64_t cache_creation_input_tokens = 0;
};

InclusiveTokens ToInclusive(const v1::Usage& usage);
InclusiveTokens ToInclusive(const ExclusiveTokens& tokens);

// cache_write_tokens counts prompt and answer; the cache takes the prompt first, so what is written is the prompt's as
// far as the prompt was computed.
ExclusiveTokens ToExclusive(const v1::Usage& usage);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_TOKEN_CONVENTIONS_H_
