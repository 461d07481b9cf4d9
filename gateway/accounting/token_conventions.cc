#include "gateway/accounting/token_conventions.h"

#include <algorithm>

namespace headstart {

InclusiveTokens ToInclusive(const v1::Usage& usage) { return {usage.prompt_tokens(), usage.cached_tokens()}; }

InclusiveTokens ToInclusive(const ExclusiveTokens& tokens) {
  return {tokens.input_tokens + tokens.cache_read_input_tokens + tokens.cache_creation_input_tokens,
          tokens.cache_read_input_tokens};
}

ExclusiveTokens ToExclusive(const v1::Usage& usage) {
  const int64_t written = std::min(usage.cache_write_tokens(), usage.computed_prompt_tokens());
  return {.input_tokens = usage.computed_prompt_tokens() - written,
          .cache_read_input_tokens = usage.cached_tokens(),
          .cache_creation_input_tokens = written};
}

}  // namespace headstart
