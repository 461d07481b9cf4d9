#include "engine/text/template/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "engine/text/template/search.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr auto npos = std::string_view::npos;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

// Line ends as "\n", and without the last one.
std::string NormalizeLines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out.push_back(source[i]);
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool IsBlank(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeAt(text, i);
    if (!IsSpace(c.value)) return false;
    i += c.size;
  }
  return true;
}

std::string_view WithoutTrailingSpace(std::string_view text) {
  while (!text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    if (!IsBlank(text.substr(start))) break;
    text.remove_suffix(text.size() - start);
  }
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)), text_(source_) {}

  std::vector<Token> Run() && {
    while (at_ < text_.size()) ReadDataAndTag();
    Emit(TokenKind::kEnd, at_);
    return std::move(tokens_);
  }

 private:
  void ReadDataAndTag();
  void EmitData(size_t begin, size_t end);
  void ReadComment();
  void ReadTag(TokenKind begin, TokenKind end, std::string_view closing);
  bool ReadTagEnd(TokenKind end, std::string_view closing);
  bool ReadRaw(size_t tag);
  void ReadRawBody(size_t tag, size_t body);
  void ReadToken();
  void ReadString();
  void ReadNumber();
  void ReadOperator();
  void Balance(char bracket, Position position);

  // The end of the data before a tag at `tag`, whose sign follows its two characters.
  size_t TrimBefore(size_t begin, size_t tag, bool is_variable) const;
  void SkipSpace();
  void SkipNewline() {
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  }
  bool LooksAt(size_t offset, std::string_view what) const {
    return text_.substr(std::min(offset, text_.size()), what.size()) == what;
  }
  char CharAt(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  Position PositionOf(size_t offset);
  Token& Emit(TokenKind kind, size_t offset, std::string text = "") {
    return tokens_.emplace_back(Token{kind, PositionOf(offset), std::move(text), Value()});
  }
  [[noreturn]] void Fail(size_t offset, std::string message) {
    throw SyntaxError{PositionOf(offset), std::move(message)};
  }

  const std::string source_;
  const std::string_view text_;
  size_t at_ = 0;
  bool at_line_start_ = true;
  std::string open_brackets_;  // the closing ones they wait for
  std::vector<Token> tokens_;
  // Positions are asked for in ascending order, nearly always.
  size_t counted_ = 0;
  size_t line_begin_ = 0;
  int line_ = 1;
};

Position Lexer::PositionOf(size_t offset) {
  if (offset < counted_) counted_ = line_begin_ = 0, line_ = 1;
  for (; counted_ < offset; ++counted_) {
    if (text_[counted_] == '\n') ++line_, line_begin_ = counted_ + 1;
  }
  return {line_, static_cast<int>(offset - line_begin_) + 1};
}

void Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    const CodePoint c = DecodeAt(text_, at_);
    if (!IsSpace(c.value)) return;
    at_ += c.size;
  }
}

size_t Lexer::TrimBefore(size_t begin, size_t tag, bool is_variable) const {
  const std::string_view data = text_.substr(begin, tag - begin);
  const char sign = CharAt(tag + 2);
  if (sign == '-') return begin + WithoutTrailingSpace(data).size();
  if (sign == '+' || is_variable) return tag;
  const size_t newline = data.rfind('\n');
  if (newline == npos && !at_line_start_) return tag;
  const size_t line = newline == npos ? 0 : newline + 1;
  return IsBlank(data.substr(line)) ? begin + line : tag;
}

void Lexer::EmitData(size_t begin, size_t end) {
  if (end > begin) Emit(TokenKind::kData, begin, std::string(text_.substr(begin, end - begin)));
}

void Lexer::ReadDataAndTag() {
  const size_t begin = at_;
  size_t tag = begin;
  while ((tag = text_.find('{', tag)) != npos && CharAt(tag + 1) != '{' && CharAt(tag + 1) != '%' &&
         CharAt(tag + 1) != '#')
    ++tag;
  if (tag == npos) {
    EmitData(begin, text_.size());
    at_ = text_.size();
    return;
  }
  const bool is_variable = text_[tag + 1] == '{';
  EmitData(begin, TrimBefore(begin, tag, is_variable));
  at_ = tag;
  if (is_variable) return ReadTag(TokenKind::kVariableBegin, TokenKind::kVariableEnd, "}}");
  if (text_[tag + 1] == '#') return ReadComment();
  if (!ReadRaw(tag)) ReadTag(TokenKind::kBlockBegin, TokenKind::kBlockEnd, "%}");
}

void Lexer::ReadComment() {
  const size_t begin = at_ + (CharAt(at_ + 2) == '-' || CharAt(at_ + 2) == '+' ? 3 : 2);
  const size_t close = text_.find("#}", begin);
  if (close == npos) Fail(at_, "Missing end of comment tag");
  const char sign = close > begin ? text_[close - 1] : '\0';
  at_ = close + 2;
  if (sign == '-') {
    SkipSpace();
  } else if (sign != '+') {
    SkipNewline();
  }
  at_line_start_ = text_[at_ - 1] == '\n';
}

bool Lexer::ReadRaw(size_t tag) {
  size_t i = tag + 2;
  const auto skip_space = [&] {
    while (i < text_.size() && std::isspace(static_cast<unsigned char>(text_[i])) != 0) ++i;
  };
  if (CharAt(i) == '-' || CharAt(i) == '+') ++i;
  skip_space();
  if (!LooksAt(i, "raw")) return false;
  i += 3;
  skip_space();
  const bool trims = CharAt(i) == '-';
  if (!LooksAt(i + (trims ? 1 : 0), "%}")) return false;
  at_ = i + (trims ? 3 : 2);
  if (trims) SkipSpace();
  at_line_start_ = text_[at_ - 1] == '\n';
  ReadRawBody(tag, at_);
  return true;
}

void Lexer::ReadRawBody(size_t tag, size_t body) {
  for (size_t open = text_.find("{%", body); open != npos; open = text_.find("{%", open + 2)) {
    size_t i = open + 2;
    const auto skip_space = [&] {
      while (i < text_.size() && std::isspace(static_cast<unsigned char>(text_[i])) != 0) ++i;
    };
    if (CharAt(i) == '-' || CharAt(i) == '+') ++i;
    skip_space();
    if (!LooksAt(i, "endraw")) continue;
    i += 6;
    skip_space();
    const char sign = CharAt(i);
    const bool is_signed = sign == '-' || sign == '+';
    if (!LooksAt(i + (is_signed ? 1 : 0), "%}")) continue;
    EmitData(body, TrimBefore(body, open, false));
    at_ = i + (is_signed ? 3 : 2);
    if (sign == '-') SkipSpace();
    if (!is_signed) SkipNewline();
    at_line_start_ = text_[at_ - 1] == '\n';
    return;
  }
  Fail(tag, "Missing end of raw directive");
}

void Lexer::ReadTag(TokenKind begin, TokenKind end, std::string_view closing) {
  const size_t tag = at_;
  Emit(begin, tag);
  at_ += 2;
  if (CharAt(at_) == '-' || CharAt(at_) == '+') ++at_;
  while (true) {
    SkipSpace();
    if (ReadTagEnd(end, closing)) return;
    if (at_ >= text_.size())
      Fail(tag, fmt::format("unexpected end of template: the tag is not closed by '{}'", closing));
    ReadToken();
  }
}

bool Lexer::ReadTagEnd(TokenKind end, std::string_view closing) {
  if (!open_brackets_.empty()) return false;
  const char sign = CharAt(at_);
  const bool is_block = end == TokenKind::kBlockEnd;
  const bool is_signed = sign == '-' || (sign == '+' && is_block);
  if (!LooksAt(at_ + (is_signed ? 1 : 0), closing)) return false;
  Emit(end, at_);
  at_ += is_signed ? 3 : 2;
  if (sign == '-') {
    SkipSpace();
  } else if (is_block && !is_signed) {
    SkipNewline();
  }
  at_line_start_ = text_[at_ - 1] == '\n';
  return true;
}

void Lexer::ReadToken() {
  const char c = text_[at_];
  if (IsNameStart(c)) {
    const size_t begin = at_;
    while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    Emit(TokenKind::kName, begin, std::string(text_.substr(begin, at_ - begin)));
  } else if (IsDigit(c)) {
    ReadNumber();
  } else if (c == '\'' || c == '"') {
    ReadString();
  } else {
    ReadOperator();
  }
}

void Lexer::ReadString() {
  const size_t begin = at_;
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) Fail(begin, "a string is not closed");
  const std::string_view literal = text_.substr(begin + 1, at_ - begin - 1);
  ++at_;
  Emit(TokenKind::kString, begin, Unescape(literal, PositionOf(begin)));
}

// Digits of a base with single underscores between them.
size_t DigitsEnd(std::string_view text, size_t begin, int base) {
  const auto is_digit = [base](char c) {
    if (base <= 10) return c >= '0' && c < '0' + base;
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  };
  size_t end = begin;
  while (end < text.size() &&
         (is_digit(text[end]) || (text[end] == '_' && end + 1 < text.size() && is_digit(text[end + 1])))) {
    ++end;
  }
  return end;
}

std::optional<Int> ParseDigits(std::string_view digits, int base) {
  Int value = 0;
  for (char c : digits) {
    if (c == '_') continue;
    const int digit = IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    if (__builtin_mul_overflow(value, Int{base}, &value) || __builtin_add_overflow(value, Int{digit}, &value))
      return std::nullopt;
  }
  return value;
}

int BaseOf(std::string_view prefix) {
  if (prefix == "0x" || prefix == "0X") return 16;
  if (prefix == "0o" || prefix == "0O") return 8;
  return prefix == "0b" || prefix == "0B" ? 2 : 10;
}

void Lexer::ReadNumber() {
  const size_t begin = at_;
  const int base = BaseOf(text_.substr(at_, 2));
  const size_t digits = base == 10 ? begin : begin + 2;
  at_ = DigitsEnd(text_, digits, base);
  bool is_float = false;
  // A name or index may follow a number in "x.0.1", but no number follows a dot there.
  const bool after_dot = !tokens_.empty() && tokens_.back().kind == TokenKind::kOperator && tokens_.back().text == ".";
  if (base == 10 && !after_dot && CharAt(at_) == '.' && IsDigit(CharAt(at_ + 1))) {
    is_float = true;
    at_ = DigitsEnd(text_, at_ + 1, 10);
  }
  if (base == 10 && (CharAt(at_) | 0x20) == 'e') {
    const size_t sign = CharAt(at_ + 1) == '+' || CharAt(at_ + 1) == '-' ? 1 : 0;
    const size_t end = DigitsEnd(text_, at_ + 1 + sign, 10);
    if (end > at_ + 1 + sign) is_float = true, at_ = end;
  }
  std::string spelling(text_.substr(digits, at_ - digits));
  Token& token =
      Emit(is_float ? TokenKind::kFloat : TokenKind::kInteger, begin, std::string(text_.substr(begin, at_ - begin)));
  if (is_float) {
    spelling.erase(std::remove(spelling.begin(), spelling.end(), '_'), spelling.end());
    token.number = Value(std::strtod(spelling.c_str(), nullptr));
    return;
  }
  const auto value = ParseDigits(spelling, base);
  if (!value) Fail(begin, "an integer leaves the range of 128 bits");
  token.number = Value(*value);
}

void Lexer::ReadOperator() {
  constexpr std::array<std::string_view, 6> kDouble = {"//", "**", "==", "!=", ">=", "<="};
  constexpr std::string_view kSingle = "+-*/%~[](){}><=.:|,;";
  const std::string_view two = text_.substr(at_, 2);
  const bool is_double = two.size() == 2 && std::find(kDouble.begin(), kDouble.end(), two) != kDouble.end();
  if (!is_double && kSingle.find(two[0]) == npos) Fail(at_, fmt::format("unexpected char '{}'", two[0]));
  Token& token = Emit(TokenKind::kOperator, at_, std::string(two.substr(0, is_double ? 2 : 1)));
  if (!is_double) Balance(two[0], token.position);
  at_ += token.text.size();
}

void Lexer::Balance(char bracket, Position position) {
  constexpr std::string_view kOpening = "([{", kClosing = ")]}";
  if (const size_t kind = kOpening.find(bracket); kind != npos) open_brackets_.push_back(kClosing[kind]);
  if (kClosing.find(bracket) == npos) return;
  if (open_brackets_.empty()) throw SyntaxError{position, fmt::format("unexpected '{}'", bracket)};
  const char expected = open_brackets_.back();
  open_brackets_.pop_back();
  if (expected != bracket)
    throw SyntaxError{position, fmt::format("unexpected '{}', expected '{}'", bracket, expected)};
}

}  // namespace

std::vector<Token> Tokenize(std::string_view source) { return Lexer(NormalizeLines(source)).Run(); }

}  // namespace headstart::jinja
