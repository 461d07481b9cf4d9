// Searching in bytes, in linear time whatever the bytes are.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_SEARCH_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_SEARCH_H_

#include <cstddef>
#include <string_view>

namespace headstart::jinja {

// As haystack.find(needle, from), without its quadratic worst case.
size_t FindBytes(std::string_view haystack, std::string_view needle, size_t from);

// As haystack.rfind(needle, last).
size_t FindLastBytes(std::string_view haystack, std::string_view needle);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_SEARCH_H_
