#include "engine/text/template/percent_format.h"

#include <algorithm>

#include "engine/text/template/context.h"
#include "engine/text/template/number_format.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

struct Conversion {
  bool left = false;
  bool zero = false;
  bool alternate = false;
  char sign = '\0';
  Int width = 0;
  int precision = -1;
  char kind = 's';
};

class PercentFormatter {
 public:
  PercentFormatter(Context& context, const Text& format, const Value& values)
      : context_(context), format_(format), bytes_(format.bytes()), values_(values) {}

  Text Run() && {
    while (at_ < bytes_.size()) {
      const size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.AppendSlice(format_, at_, percent);
      at_ = percent;
      if (at_ < bytes_.size()) Convert();
      if (out_.size() > context_.max_bytes()) context_.ChargeBytes(out_.size());
    }
    CheckAllUsed();
    context_.ChargeBytes(out_.size());
    return out_.Take();
  }

 private:
  char Peek() const {
    if (at_ >= bytes_.size()) Fail("incomplete format");
    return bytes_[at_];
  }
  bool is_tuple() const {
    return values_.is(Value::Kind::kSequence) && values_.as_sequence().flavor() == Sequence::Flavor::kTuple;
  }

  void Convert() {
    ++at_;
    const Value* named = ReadName();
    Conversion conversion = ReadFlags();
    conversion.width = ReadNumber(conversion.left);
    if (Peek() == '.') {
      ++at_;
      bool ignored = false;
      conversion.precision = static_cast<int>(std::min<Int>(ReadNumber(ignored), kMaxPrecision));
    }
    while (Peek() == 'h' || Peek() == 'l' || Peek() == 'L') ++at_;
    conversion.kind = bytes_[at_++];
    if (conversion.kind == '%') return out_.Append("%");
    Emit(conversion, named != nullptr ? *named : NextValue());
  }

  const Value* ReadName() {
    if (Peek() != '(') return nullptr;
    const size_t close = bytes_.find(')', at_);
    if (close == std::string_view::npos) Fail("incomplete format key");
    if (!values_.is_dict()) Fail("format requires a mapping");
    const std::string_view name = bytes_.substr(at_ + 1, close - at_ - 1);
    const Value* found = values_.as_dict().Find(name);
    if (found == nullptr) Fail(fmt::format("the format names '{}', which is not given", name));
    at_ = close + 1;
    return found;
  }

  Conversion ReadFlags() {
    Conversion conversion;
    for (;; ++at_) {
      switch (Peek()) {
        case '-':
          conversion.left = true;
          break;
        case '0':
          conversion.zero = true;
          break;
        case '#':
          conversion.alternate = true;
          break;
        case '+':
          conversion.sign = '+';
          break;
        case ' ':
          conversion.sign = conversion.sign == '+' ? '+' : ' ';
          break;
        default:
          return conversion;
      }
    }
  }

  // Digits, or `*` for the next value.
  Int ReadNumber(bool& left) {
    if (Peek() == '*') {
      ++at_;
      const Value value = NextValue();
      if (!value.is_integral()) Fail("* wants int");
      left = left || value.as_int() < 0;
      return value.as_int() < 0 ? -value.as_int() : value.as_int();
    }
    Int number = 0;
    for (; Peek() >= '0' && Peek() <= '9'; ++at_) number = std::min<Int>(number * 10 + (Peek() - '0'), kNoLimit);
    return number;
  }

  Value NextValue() {
    if (is_tuple()) {
      const List& items = values_.as_sequence().items();
      if (used_ >= items.size()) Fail("not enough arguments for format string");
      return items[used_++];
    }
    if (used_++ > 0) Fail("not enough arguments for format string");
    return values_;
  }

  void CheckAllUsed() const {
    const size_t given = is_tuple() ? values_.as_sequence().items().size() : (values_.is_dict() ? 0 : 1);
    const bool is_list = values_.is(Value::Kind::kSequence) && !is_tuple();
    if (used_ < given && !is_list) Fail("not all arguments converted during string formatting");
  }

  void Emit(const Conversion& conversion, const Value& value) {
    const Text text = Format(conversion, value);
    const bool numeric = conversion.kind != 's' && conversion.kind != 'r' && conversion.kind != 'c';
    if (conversion.zero && numeric && !conversion.left) return EmitZeroPadded(conversion, text);
    out_.Append(
        Pad(context_, text, conversion.width, conversion.left ? Alignment::kLeft : Alignment::kRight, Text(" ")));
  }

  void EmitZeroPadded(const Conversion& conversion, const Text& text) {
    const bool is_signed = !text.empty() && std::string_view("+- ").find(text.bytes()[0]) != std::string_view::npos;
    const size_t sign = is_signed ? 1 : 0;
    out_.AppendSlice(text, 0, sign);
    out_.Append(Pad(context_, text.Slice(sign, text.size()), conversion.width - static_cast<Int>(sign),
                    Alignment::kRight, Text("0")));
  }

  Text Format(const Conversion& conversion, const Value& value) {
    switch (conversion.kind) {
      case 's':
        return Truncate(ToText(context_, value), conversion.precision);
      case 'r':
      case 'a':
        return Truncate(Repr(context_, value), conversion.precision);
      case 'c':
        return FormatCharacter(value);
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return FormatWhole(conversion, value);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!value.is_number()) Fail(fmt::format("must be real number, not {}", TypeName(value)));
        return Text(
            WithSign(FormatReal(value.as_float(), conversion.kind, conversion.precision < 0 ? 6 : conversion.precision),
                     conversion.sign));
      default:
        Fail(fmt::format("unsupported format character '{}'", conversion.kind));
    }
  }

  static Text FormatWhole(const Conversion& conversion, const Value& value) {
    if (!value.is_number()) {
      Fail(fmt::format("%{} format: a real number is required, not {}", conversion.kind, TypeName(value)));
    }
    const bool is_float = value.is(Value::Kind::kFloat);
    if (is_float && !(value.as_float() > -1e38 && value.as_float() < 1e38)) Fail("cannot convert float to integer");
    const Int whole = is_float ? static_cast<Int>(value.as_float()) : value.as_int();
    std::string digits = FormatInteger(whole, conversion.kind);
    if (conversion.precision > static_cast<int>(digits.size())) {
      digits.insert(0, static_cast<size_t>(conversion.precision) - digits.size(), '0');
    }
    if (conversion.alternate && conversion.kind != 'd') digits.insert(0, {'0', conversion.kind});
    return Text(WithSign(std::move(digits), conversion.sign));
  }

  static Text FormatCharacter(const Value& value) {
    if (value.is_string() && CountCodePoints(value.as_text().bytes()) == 1) return value.as_text();
    if (!value.is_integral() || value.as_int() < 0 || value.as_int() > 0x10FFFF) Fail("%c requires int or char");
    std::string character;
    AppendUtf8(static_cast<char32_t>(value.as_int()), character);
    return Text(character);
  }

  static Text Truncate(const Text& text, int precision) {
    if (precision < 0) return text;
    const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
    return text.Slice(0, offsets[std::min(static_cast<size_t>(precision), offsets.size() - 1)]);
  }

  Context& context_;
  const Text& format_;
  const std::string_view bytes_;
  const Value& values_;
  size_t at_ = 0;
  size_t used_ = 0;
  TextBuilder out_;
};

}  // namespace

Text PercentFormat(Context& context, const Text& format, const Value& values) {
  return PercentFormatter(context, format, values).Run();
}

}  // namespace headstart::jinja
