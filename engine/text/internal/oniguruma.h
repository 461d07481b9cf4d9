// From Oniguruma's regular expressions, which tokenizer files are written in, to PCRE2's.
//
// The two agree on nearly all that tokenizers use. What differs is rewritten: white space (PCRE2 counts U+180E in),
// word characters, \h and \uHHHH, letters newer than PCRE2's tables. What would silently mean something else is
// refused.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_ONIGURUMA_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_ONIGURUMA_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headstart {

// For PCRE2 with UTF, UCP and MULTILINE. Errors: UNIMPLEMENTED for a construct that PCRE2 reads in another way.
absl::StatusOr<std::string> OnigurumaToPcre(std::string_view pattern);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_ONIGURUMA_H_
