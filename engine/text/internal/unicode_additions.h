// Code points whose general category is newer than the Unicode tables of the PCRE2 that Headstart is built on:
// Debian's 10.42 knows Unicode 14, the reference's regular expressions know 16. A letter of the newest blocks must
// split as a letter.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_UNICODE_ADDITIONS_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_UNICODE_ADDITIONS_H_

#include <string>
#include <string_view>

namespace headstart {

// What to add to a PCRE2 character class beside \p{category}, as items of a class. A category is one of Unicode's
// ("Lu") or its first letter ("L"); of any other, nothing is known to be missing.
std::string UnicodeAdditions(std::string_view category);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_UNICODE_ADDITIONS_H_
