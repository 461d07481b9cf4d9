#include "engine/text/template/search.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace headstart::jinja {

size_t FindBytes(std::string_view haystack, std::string_view needle, size_t from) {
  if (from > haystack.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  if (needle.size() > haystack.size() - from) return std::string_view::npos;  // also where the haystack has no address
  const void* found = memmem(haystack.data() + from, haystack.size() - from, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - haystack.data());
}

size_t FindLastBytes(std::string_view haystack, std::string_view needle) {
  if (needle.empty()) return haystack.size();
  const auto found =
      std::search(haystack.rbegin(), haystack.rend(), std::boyer_moore_searcher(needle.rbegin(), needle.rend()));
  if (found == haystack.rend()) return std::string_view::npos;
  return static_cast<size_t>(haystack.rend() - found) - needle.size();
}

}  // namespace headstart::jinja
