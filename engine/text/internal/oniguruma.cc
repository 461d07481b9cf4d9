#include "engine/text/internal/oniguruma.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "engine/text/internal/unicode_additions.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// Unicode's White_Space.
constexpr std::string_view kSpace =
    "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
constexpr std::string_view kNotSpace =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}\\x{21}-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}\\x{200B}-\\x{2027}"
    "\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}\\x{3001}-\\x{10FFFF}";
constexpr std::string_view kHexDigit = "0-9A-Fa-f";

std::string Category(std::string_view name) {
  // ASCII letters first: a class tests them with a bitmap, and everything else property by property.
  const std::string_view ascii = name == "L" ? "A-Za-z" : "";
  return fmt::format("{}\\p{{{}}}{}", ascii, name, UnicodeAdditions(name));
}

// Oniguruma's word characters: alphabetic, marks, decimal digits, connectors, and by a quirk Latin-1's other numbers.
std::string Word() {
  return fmt::format("\\p{{Alphabetic}}{}\\p{{M}}{}\\p{{Nd}}{}\\p{{Pc}}\\x{{B2}}\\x{{B3}}\\x{{B9}}\\x{{BC}}-\\x{{BE}}",
                     UnicodeAdditions("L"), UnicodeAdditions("M"), UnicodeAdditions("Nd"));
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  absl::StatusOr<std::string> Run() && {
    while (!rest_.empty() && error_.empty()) Step();
    if (!error_.empty()) return absl::UnimplementedError(fmt::format("regular expression uses {}", error_));
    return std::move(out_);
  }

 private:
  void Step() {
    if (rest_[0] == '\\') return Escape();
    if (in_class_) return ClassCharacter();
    if (rest_[0] == '[') return BeginClass();
    if (rest_[0] == '(') return Group();
    if (rest_[0] == '}' && rest_.substr(1, 1) == "+") error_ = "a '+' after an interval '{..}'";
    Copy(1);
  }

  void Copy(size_t bytes) {
    out_.append(rest_.substr(0, bytes));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  void BeginClass() {
    in_class_ = true;
    Copy(1);
    if (rest_.substr(0, 1) == "^") Copy(1);
    if (rest_.substr(0, 1) == "]") Copy(1);  // a bracket in the first place is itself
  }

  void ClassCharacter() {
    if (rest_.substr(0, 9) == "[:space:]") return Expand(9, kSpace, kNotSpace, false);
    if (rest_.substr(0, 2) == "[:") return Copy(2);
    if (rest_[0] == '[') error_ = "a class within a class '[..[..]..]'";
    if (rest_.substr(0, 2) == "&&") error_ = "an intersection of classes '&&'";
    if (rest_[0] == ']') in_class_ = false;
    Copy(1);
  }

  void Group() {
    if (rest_.substr(0, 2) == "(*") error_ = "'(*'";
    if (rest_.substr(0, 2) == "(?") {
      const size_t flags = rest_.find_first_not_of("imx-", 2);
      if (rest_.substr(2, flags - 2).find_first_of("mx") != std::string_view::npos) error_ = "the option 'm' or 'x'";
    }
    Copy(1);
  }

  void Escape() {
    const char kind = rest_.size() > 1 ? rest_[1] : '\0';
    const bool negated = std::isupper(static_cast<unsigned char>(kind)) != 0;
    switch (kind) {
      case 's':
      case 'S':
        return Expand(2, kSpace, kNotSpace, negated);
      case 'h':
        return Expand(2, kHexDigit, "", false);
      case 'd':
        return Expand(2, Category("Nd"), "", false);
      case 'w':
        return Expand(2, Word(), "", false);
      case 'b':
      case 'B':
        return in_class_ ? Copy(2) : WordBorder(negated);
      case 'p':
        return Property();
      case 'u':
        return HexEscape();
      case 'H':
      case 'K':
      case 'Q':
      case 'G':
        error_ = fmt::format("'\\{}'", kind);
        return;
      default:
        return Copy(CopiedEscape());
    }
  }

  // \P{..}, \D and \W stay PCRE2's own; the rest of the escapes mean the same in both.
  size_t CopiedEscape() const { return rest_.size() > 1 ? 2 : 1; }

  void Property() {
    const size_t close = rest_.find('}');
    if (rest_.substr(0, 3) != "\\p{" || close == std::string_view::npos) return Copy(2);
    const std::string_view name = rest_.substr(3, close - 3);
    if (name.empty() || name[0] == '^') return Copy(close + 1);
    Expand(close + 1, Category(name), "", false);
  }

  // PCRE2's own \b would go by its own idea of a word.
  void WordBorder(bool negated) {
    const std::string word = Word();
    const std::string_view after_word = negated ? "=" : "!";
    const std::string_view after_other = negated ? "!" : "=";
    out_ += fmt::format("(?:(?<=[{0}])(?{1}[{0}])|(?<![{0}])(?{2}[{0}]))", word, after_word, after_other);
    rest_.remove_prefix(2);
  }

  void HexEscape() {
    const std::string_view digits = rest_.substr(2, 4);
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      error_ = "'\\u' without four hexadecimal digits";
      return;
    }
    out_ += fmt::format("\\x{{{}}}", digits);
    rest_.remove_prefix(6);
  }

  // Puts the items of a class for `bytes` of the pattern. A '-' beside them must not make a range.
  void Expand(size_t bytes, std::string_view items, std::string_view complement, bool negated) {
    rest_.remove_prefix(bytes);
    if (!in_class_) {
      out_ += fmt::format("[{}{}]", negated ? "^" : "", items);
      return;
    }
    if (out_.ends_with('-') && !out_.ends_with("\\-")) out_.insert(out_.size() - 1, "\\");
    out_ += negated ? complement : items;
    if (rest_.substr(0, 1) != "-") return;
    out_ += "\\-";
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string out_;
  std::string error_;
  bool in_class_ = false;
};

}  // namespace

absl::StatusOr<std::string> OnigurumaToPcre(std::string_view pattern) { return Translator(pattern).Run(); }

}  // namespace headstart
