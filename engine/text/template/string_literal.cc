// Escapes in string literals.

#include <charconv>

#include "engine/text/template/lexer.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr char32_t kHighSurrogate = 0xD800;
constexpr char32_t kLowSurrogate = 0xDC00;
constexpr char32_t kSurrogateEnd = 0xE000;

class Unescaper {
 public:
  Unescaper(std::string_view text, Position position) : text_(text), position_(position) {}

  std::string Run() && {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      c == '\\' && at_ < text_.size() ? Escape(text_[at_++]) : out_.push_back(c);
    }
    return std::move(out_);
  }

 private:
  void Escape(char kind) {
    constexpr std::string_view kNames = "abfnrtv\\'\"";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    if (const size_t known = kNames.find(kind); known != std::string_view::npos)
      return out_.push_back(kMeanings[known]);
    switch (kind) {
      case '\n':
        return;  // the line goes on
      case 'x':
        return AppendUtf8(Digits(2, 16), out_);
      case 'u':
        return AppendScalar(Digits(4, 16));
      case 'U':
        return AppendScalar(Digits(8, 16));
      default:
        break;
    }
    if (kind < '0' || kind > '7') return out_.push_back('\\'), out_.push_back(kind);
    --at_;
    AppendUtf8(Octal(), out_);
  }

  char32_t Digits(size_t count, int base) {
    uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, count);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (digits.size() < count || read.ptr != digits.data() + count)
      throw SyntaxError{position_, "truncated escape in a string"};
    at_ += count;
    return value;
  }

  char32_t Octal() {
    size_t count = 0;
    while (count < 3 && at_ + count < text_.size() && text_[at_ + count] >= '0' && text_[at_ + count] <= '7') ++count;
    return Digits(count, 8);
  }

  // Two \u escapes may make one code point; a surrogate on its own has no UTF-8.
  void AppendScalar(char32_t value) {
    if (value >= kHighSurrogate && value < kLowSurrogate && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const char32_t low = Digits(4, 16);
      value = 0x10000 + ((value - kHighSurrogate) << 10) + (low - kLowSurrogate);
    }
    const bool is_surrogate = value >= kHighSurrogate && value < kSurrogateEnd;
    if (is_surrogate || value > 0x10FFFF) throw SyntaxError{position_, "an escape in a string is no code point"};
    AppendUtf8(value, out_);
  }

  const std::string_view text_;
  const Position position_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string Unescape(std::string_view literal, Position position) { return Unescaper(literal, position).Run(); }

}  // namespace headstart::jinja
