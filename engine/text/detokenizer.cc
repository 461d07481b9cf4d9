#include <string>
#include <string_view>
#include <utility>

#include "engine/text/internal/replace.h"
#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace headstart {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool with_special, StreamStart start)
    : tokenizer_(tokenizer),
      with_special_(with_special),
      at_first_token_(start == StreamStart::kText),
      spaces_to_strip_(start == StreamStart::kText ? tokenizer.spec().decoder.strip_leading_spaces : 0) {}

std::string Detokenizer::Push(TokenId token) {
  open_bytes_ += BytesOf(token);
  return TakeText(/*at_end=*/false);
}

std::string Detokenizer::Finish() { return TakeText(/*at_end=*/true); }

// The first token that has text may lose what marks the start of a word.
std::string Detokenizer::BytesOf(TokenId token) {
  std::string bytes = tokenizer_.TokenBytes(token, with_special_);
  if (bytes.empty() || !std::exchange(at_first_token_, false)) return bytes;
  const DecoderSpec& decoder = tokenizer_.spec().decoder;
  if (decoder.drop_in_first_token.empty()) return bytes;
  return ReplaceAll(tokenizer_.spec().vocabulary[ToIndex(token)], decoder.drop_in_first_token, "");
}

// Everything that no later token can change.
std::string Detokenizer::TakeText(bool at_end) {
  std::string text;
  std::string_view rest = open_bytes_;
  while (!rest.empty()) {
    const size_t valid = ValidUtf8Prefix(rest);
    text.append(rest.substr(0, valid));
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    const Utf8Unit unit = ReadUtf8Unit(rest);
    if (unit.kind == Utf8Unit::Kind::kIncomplete && !at_end) break;
    AppendInvalid(unit.size, text);
    rest.remove_prefix(unit.size);
  }
  open_bytes_.erase(0, open_bytes_.size() - rest.size());
  StripLeadingSpaces(text);
  return text;
}

// Byte-level models repair text, where one U+FFFD stands for all that could have begun a code point; in models with
// byte fallback each byte is a token, and each becomes one.
void Detokenizer::AppendInvalid(size_t bytes, std::string& text) const {
  const size_t count = tokenizer_.spec().decoder.byte_fallback ? bytes : 1;
  for (size_t i = 0; i < count; ++i) text.append(kReplacementCharacter);
}

void Detokenizer::StripLeadingSpaces(std::string& text) {
  size_t spaces = 0;
  while (spaces_to_strip_ > 0 && spaces < text.size() && text[spaces] == ' ') {
    ++spaces;
    --spaces_to_strip_;
  }
  text.erase(0, spaces);
  if (!text.empty()) spaces_to_strip_ = 0;
}

}  // namespace headstart
