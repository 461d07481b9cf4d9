#include "engine/text/template/repr.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/text/template/context.h"
#include "engine/text/template/object.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

class Printer {
 public:
  explicit Printer(size_t max_bytes) : max_bytes_(max_bytes) {}

  std::string Print(const Value& value) && {
    Append(value);
    return std::move(out_);
  }

 private:
  void Append(const Value& value);
  void AppendSequence(const Sequence& sequence);
  void AppendDict(const Dict& dict);
  void AppendItems(const List& items);
  void Write(std::string_view bytes) {
    if (bytes.size() > max_bytes_ - out_.size()) FailLimit(fmt::format("a string exceeds {} bytes", max_bytes_));
    out_.append(bytes);
  }

  const size_t max_bytes_;
  std::string out_;
};

void Printer::Append(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return Write("Undefined");
    case Value::Kind::kNone:
      return Write("None");
    case Value::Kind::kBool:
      return Write(value.as_bool() ? "True" : "False");
    case Value::Kind::kInt:
      return Write(FormatInt(value.as_int()));
    case Value::Kind::kFloat:
      return Write(FormatFloat(value.as_float()));
    case Value::Kind::kString:
      return Write(QuoteString(value.as_text().bytes()));
    case Value::Kind::kSequence:
      return AppendSequence(value.as_sequence());
    case Value::Kind::kDict:
      return AppendDict(value.as_dict());
    case Value::Kind::kObject:
      return Write(value.as_object()->Repr());
  }
}

void Printer::AppendItems(const List& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) Write(", ");
    Append(items[i]);
  }
}

void Printer::AppendSequence(const Sequence& sequence) {
  if (sequence.flavor() == Sequence::Flavor::kGenerator) return Write("<generator object>");
  if (sequence.flavor() == Sequence::Flavor::kRange) return Write(sequence.label());
  const List& items = sequence.items();
  if (sequence.flavor() == Sequence::Flavor::kTuple) {
    Write("("), AppendItems(items), Write(items.size() == 1 ? ",)" : ")");
  } else if (sequence.is_view()) {
    Write(TypeName(Value(std::make_shared<const Sequence>(sequence.flavor(), List()))));
    Write("(["), AppendItems(items), Write("])");
  } else {
    Write("["), AppendItems(items), Write("]");
  }
}

void Printer::AppendDict(const Dict& dict) {
  Write("{");
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!std::exchange(first, false)) Write(", ");
    Append(key), Write(": "), Append(value);
  }
  Write("}");
}

bool IsPrintable(char32_t c) {
  return c >= 0x20 && c != 0x7F && !(c >= 0x80 && c <= 0xA0) && c != 0xAD && c < kInvalidByte;
}

void AppendQuoted(char32_t c, char quote, std::string& out) {
  if (c == static_cast<char32_t>(quote) || c == '\\') {
    out.push_back('\\'), out.push_back(static_cast<char>(c));
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (IsPrintable(c)) {
    AppendUtf8(c, out);
  } else {
    out += fmt::format("\\x{:02x}", static_cast<unsigned>(c & 0xFF));
  }
}

// Python's repr of a float: shortest digits that read back the same, an exponent outside 1e-4 .. 1e16.
std::string LayOut(bool negative, const std::string& digits, int point) {
  std::string out = negative ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (point > 16 || point < -3) {
    out += digits.substr(0, 1);
    if (count > 1) out += "." + digits.substr(1);
    return out + fmt::format("e{}{:02}", point > 0 ? '+' : '-', std::abs(point - 1));
  }
  if (point <= 0) return out + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (point >= count) return out + digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  return out + digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
}

}  // namespace

std::string FormatInt(Int value) { return fmt::format("{}", value); }

std::string FormatFloat(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), std::abs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  std::string digits;
  std::copy_if(text.begin(), text.begin() + static_cast<ptrdiff_t>(e), std::back_inserter(digits),
               [](char c) { return c != '.'; });
  int exponent = 0;
  const size_t number = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + number, text.data() + text.size(), exponent);
  return LayOut(std::signbit(value), digits, exponent + 1);
}

std::string QuoteString(std::string_view bytes) {
  const bool has_single = bytes.find('\'') != std::string_view::npos;
  const char quote = has_single && bytes.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint c = DecodeAt(bytes, i);
    AppendQuoted(c.value, quote, out);
    i += c.size;
  }
  out.push_back(quote);
  return out;
}

Text Repr(const Value& value, size_t max_bytes) {
  return Text(Printer(max_bytes).Print(value), value.summary().has_caller_bytes ? Origin::kCaller : Origin::kTemplate);
}

Text ToText(const Value& value, size_t max_bytes) {
  if (value.is_string()) return value.as_text();
  if (value.is_undefined()) return Text();
  return Repr(value, max_bytes);
}

Text ToText(Context& context, const Value& value) {
  if (value.is_string()) return value.as_text();
  Text text = ToText(value, context.max_bytes());
  context.Charge(static_cast<int64_t>(text.size() / kPrintedBytesPerStep));
  return text;
}

Text Repr(Context& context, const Value& value) {
  Text text = Repr(value, context.max_bytes());
  context.Charge(static_cast<int64_t>(text.size() / kPrintedBytesPerStep));
  return text;
}

}  // namespace headstart::jinja
