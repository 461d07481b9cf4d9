// Reading over JSON without making anything of it: how hostile a text is, and where a value ends that arrives in
// pieces.
//
// Thread-safety: free functions and plain values.

#ifndef HEADSTART_GATEWAY_OPENAI_JSON_SCAN_H_
#define HEADSTART_GATEWAY_OPENAI_JSON_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace headstart {

struct JsonLimits {
  int max_depth = 64;                // what recurses over a value must not run out of stack
  int64_t max_containers = 1 << 18;  // an empty list takes 2 bytes here, and thirty times that in memory
};

// INVALID_ARGUMENT when parsing `text` would make more of it than the limits allow. Says nothing of whether it is
// valid.
absl::Status CheckJsonSize(std::string_view text, const JsonLimits& limits = {});

// Finds the end of an object or a list that arrives in pieces.
class JsonExtent {
 public:
  enum class End { kMore, kComplete, kBad };

  // Reads `next`, the first character of the value first, and says whether it ends with it. kBad: a bracket closes what
  // it did not open, or it nests too deeply.
  End Push(char next);

 private:
  std::string open_;  // the brackets to come, outermost first
  bool in_string_ = false;
  bool escaped_ = false;
};

// As a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_JSON_SCAN_H_
