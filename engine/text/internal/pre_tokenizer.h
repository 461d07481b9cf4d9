// PreTokenizer: a spec's pre-tokenizer steps, ready to run. Merges never cross the words that it makes.
//
// Thread-safety: immutable after Create.
// Errors: Create refuses a pattern that does not compile. Split cannot fail.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_PRE_TOKENIZER_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_PRE_TOKENIZER_H_

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/internal/regex.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

// Views into the text that was split, or into `rewritten` where a step changed a word.
struct Words {
  struct Word {
    std::string_view text{};
    bool at_start = false;  // nothing of the whole text lies before it
  };
  std::vector<Word> words{};
  std::deque<std::string> rewritten{};
};

class PreTokenizer {
 public:
  static absl::StatusOr<PreTokenizer> Create(const std::vector<PreTokenizerStep>& steps);

  // The result holds views into `text`. REQUIRES: text is valid UTF-8.
  Words Split(std::string_view text, bool at_start) const;

 private:
  struct Step {
    PreTokenizerStep spec;
    std::optional<Regex> regex{};
  };
  std::vector<Step> steps_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_PRE_TOKENIZER_H_
