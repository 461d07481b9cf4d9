// Regex: a compiled pattern, with Oniguruma's meaning and PCRE2's machine code.
//
// Thread-safety: immutable after Compile; any number of threads may match with one, each with its own Matcher.
// Errors: Compile refuses what does not compile. Matching never fails: where PCRE2 gives up (its limits on steps and
// memory are there to bound hostile patterns), the rest of the text counts as not matched.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_REGEX_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_REGEX_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_spec.h"

struct pcre2_real_code_8;
struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace headstart {

class Regex {
 public:
  static absl::StatusOr<Regex> Compile(const TextPattern& pattern);

  // Walks over a text's matches, which do not overlap. REQUIRES: text is valid UTF-8; both outlive the matcher.
  class Matcher {
   public:
    Matcher(const Regex& regex, std::string_view text);

    // Goes on with another text, which saves the memory that a new matcher would need.
    void Reset(std::string_view text);

    std::optional<TextRange> Next();

   private:
    struct Free {
      void operator()(pcre2_real_match_data_8* data) const;
    };
    std::optional<TextRange> NextLiteral();
    std::optional<TextRange> Search(size_t from);
    void StepOver();

    const Regex& regex_;
    std::string_view text_;
    size_t from_ = 0;
    std::optional<size_t> last_end_;
    std::unique_ptr<pcre2_real_match_data_8, Free> data_;
  };

 private:
  struct Free {
    void operator()(pcre2_real_code_8* code) const;
    void operator()(pcre2_real_match_context_8* context) const;
  };

  std::string literal_;  // what to find when there is no code
  std::unique_ptr<pcre2_real_code_8, Free> code_;
  std::unique_ptr<pcre2_real_match_context_8, Free> context_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_REGEX_H_
