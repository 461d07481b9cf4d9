#include "engine/text/internal/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "engine/text/internal/oniguruma.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// \C would split code points. Lines end at \n alone, and ^ and $ hold at every line, as in Oniguruma.
constexpr uint32_t kCompileOptions =
    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;

constexpr uint32_t kMatchSteps = 10'000'000;  // PCRE2's own default, stated since results depend on it
constexpr uint32_t kHeapKib = 64 * 1024;      // the default of 20 GB bounds nothing

std::string ErrorText(int code) {
  PCRE2_UCHAR text[256];
  const int size = pcre2_get_error_message(code, text, sizeof(text));
  return size < 0 ? "unknown error" : std::string(reinterpret_cast<const char*>(text), size);
}

pcre2_code* CompilePcre(std::string_view pattern, int& error, size_t& offset) {
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), kCompileOptions,
                                   &error, &offset, context);
  pcre2_compile_context_free(context);
  return code;
}

}  // namespace

void Regex::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }
void Regex::Free::operator()(pcre2_real_match_context_8* context) const { pcre2_match_context_free(context); }
void Regex::Matcher::Free::operator()(pcre2_real_match_data_8* data) const { pcre2_match_data_free(data); }

absl::StatusOr<Regex> Regex::Compile(const TextPattern& pattern) {
  if (pattern.text.empty()) return absl::InvalidArgumentError("pattern is empty");
  Regex regex;
  if (!pattern.is_regex) {
    regex.literal_ = pattern.text;
    return regex;
  }
  if (!IsValidUtf8(pattern.text)) return absl::InvalidArgumentError("regular expression is not valid UTF-8");
  absl::StatusOr<std::string> translated = OnigurumaToPcre(pattern.text);
  if (!translated.ok()) return translated.status();
  int error = 0;
  size_t offset = 0;
  regex.code_.reset(CompilePcre(*translated, error, offset));
  if (regex.code_ == nullptr) {
    return absl::InvalidArgumentError(fmt::format("regular expression does not compile: {} (at byte {} of {})",
                                                  ErrorText(error), offset, *translated));
  }
  pcre2_jit_compile(regex.code_.get(), PCRE2_JIT_COMPLETE);  // where it cannot, PCRE2 interprets
  regex.context_.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(regex.context_.get(), kMatchSteps);
  pcre2_set_heap_limit(regex.context_.get(), kHeapKib);
  return regex;
}

Regex::Matcher::Matcher(const Regex& regex, std::string_view text) : regex_(regex), text_(text) {
  if (regex.code_ != nullptr) data_.reset(pcre2_match_data_create(1, nullptr));
}

void Regex::Matcher::Reset(std::string_view text) {
  text_ = text;
  from_ = 0;
  last_end_.reset();
}

std::optional<TextRange> Regex::Matcher::Next() {
  if (regex_.code_ == nullptr) return NextLiteral();
  while (from_ <= text_.size()) {
    const std::optional<TextRange> match = Search(from_);
    if (!match.has_value()) break;
    if (match->begin == match->end && last_end_ == match->end) {
      StepOver();  // an empty match where the last one ended is no new match
      continue;
    }
    from_ = match->end;
    last_end_ = match->end;
    return match;
  }
  from_ = text_.size() + 1;
  return std::nullopt;
}

std::optional<TextRange> Regex::Matcher::NextLiteral() {
  const size_t begin = text_.find(regex_.literal_, from_);
  if (begin == std::string_view::npos) return std::nullopt;
  from_ = begin + regex_.literal_.size();
  return TextRange{begin, from_};
}

std::optional<TextRange> Regex::Matcher::Search(size_t from) {
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text_.data());
  const auto match = [&](uint32_t options) {
    return pcre2_match(regex_.code_.get(), subject, text_.size(), from, PCRE2_NO_UTF_CHECK | options, data_.get(),
                       regex_.context_.get());
  };
  int result = match(0);
  if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(PCRE2_NO_JIT);
  if (result < 0) return std::nullopt;
  const size_t* bounds = pcre2_get_ovector_pointer(data_.get());
  return TextRange{bounds[0], bounds[1]};
}

void Regex::Matcher::StepOver() { from_ += from_ < text_.size() ? CodePointSize(text_[from_]) : 1; }

}  // namespace headstart
