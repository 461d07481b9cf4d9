// Replacing within strings.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_REPLACE_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_REPLACE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace headstart {

// The text with every `from`, found from the left without overlaps, as `to`. REQUIRES: from is not empty.
inline std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    replaced.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return replaced.append(text);
}

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_REPLACE_H_
