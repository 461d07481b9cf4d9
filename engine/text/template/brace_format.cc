// str.format of percent_format.h.

#include <charconv>

#include "engine/text/template/context.h"
#include "engine/text/template/number_format.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/percent_format.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

// [[fill]align][sign][0][width][,][.precision][type]
struct Specification {
  std::string fill = " ";
  char align = '\0';
  char sign = '\0';
  Int width = 0;
  bool grouped = false;
  int precision = -1;
  char kind = '\0';
};

class SpecificationReader {
 public:
  explicit SpecificationReader(std::string_view text) : text_(text) {}

  Specification Read() && {
    Specification spec;
    ReadAlignment(spec);
    if (AtAny("+- ")) spec.sign = Take() == '+' ? '+' : (text_[at_ - 1] == ' ' ? ' ' : '\0');
    if (AtAny("0")) {
      Take();
      if (spec.align == '\0') spec.fill = "0", spec.align = '=';
    }
    spec.width = ReadNumber();
    if (AtAny(",_")) spec.grouped = Take() == ',';
    if (AtAny(".")) {
      Take();
      spec.precision = static_cast<int>(std::min<Int>(ReadNumber(), kMaxPrecision));
    }
    if (at_ < text_.size()) spec.kind = Take();
    if (at_ < text_.size()) Fail("Invalid format specifier");
    return spec;
  }

 private:
  bool AtAny(std::string_view chars) const {
    return at_ < text_.size() && chars.find(text_[at_]) != std::string_view::npos;
  }
  char Take() { return text_[at_++]; }

  void ReadAlignment(Specification& spec) {
    constexpr std::string_view kAlignments = "<>=^";
    const size_t first = text_.empty() ? 0 : DecodeAt(text_, 0).size;
    if (first > 0 && first < text_.size() && kAlignments.find(text_[first]) != std::string_view::npos) {
      spec.fill = text_.substr(0, first);
      at_ = first;
    }
    if (AtAny(kAlignments)) spec.align = Take();
  }

  Int ReadNumber() {
    Int number = 0;
    while (AtAny("0123456789")) number = std::min<Int>(number * 10 + (Take() - '0'), kNoLimit);
    return number;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

std::string GroupThousands(std::string number) {
  const size_t first = number.find_first_of("0123456789");
  size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  while (end - first > 3) number.insert(end -= 3, 1, ',');
  return number;
}

Text FormatNumber(const Specification& spec, const Value& value) {
  const bool as_real = value.is(Value::Kind::kFloat) ||
                       (spec.kind != '\0' && std::string_view("eEfFgG%").find(spec.kind) != std::string_view::npos);
  std::string number;
  if (!as_real) {
    number = FormatInteger(value.as_int(), spec.kind == '\0' || spec.kind == 'n' ? 'd' : spec.kind);
  } else if (spec.kind == '\0' && spec.precision < 0) {
    number = FormatFloat(value.as_float());
  } else {
    number = FormatReal(value.as_float(), spec.kind == '\0' ? 'g' : spec.kind, spec.precision < 0 ? 6 : spec.precision);
  }
  return Text(WithSign(spec.grouped ? GroupThousands(std::move(number)) : std::move(number), spec.sign));
}

Text PadTo(Context& context, const Specification& spec, const Text& text, bool is_number) {
  const Text fill(spec.fill);
  switch (spec.align) {
    case '<':
      return Pad(context, text, spec.width, Alignment::kLeft, fill);
    case '>':
      return Pad(context, text, spec.width, Alignment::kRight, fill);
    case '^': {
      // Here an odd space is on the right, unlike str.center.
      const Int size = static_cast<Int>(CountCodePoints(text.bytes()));
      const Text left = Pad(context, text, size + std::max<Int>(spec.width - size, 0) / 2, Alignment::kRight, fill);
      return Pad(context, left, spec.width, Alignment::kLeft, fill);
    }
    case '=': {
      const size_t sign = text.bytes().find_first_of("+- ") == 0 ? 1 : 0;
      const Int rest = spec.width - static_cast<Int>(sign);
      return Concat(text.Slice(0, sign), Pad(context, text.Slice(sign, text.size()), rest, Alignment::kRight, fill));
    }
    default:
      return Pad(context, text, spec.width, is_number ? Alignment::kRight : Alignment::kLeft, fill);
  }
}

Text FormatValue(Context& context, const Value& value, std::string_view specification) {
  if (specification.empty()) return ToText(context, value);
  const Specification spec = SpecificationReader(specification).Read();
  if (value.is_number() && !(value.is_bool() && spec.kind == '\0')) {
    return PadTo(context, spec, FormatNumber(spec, value), true);
  }
  if (!value.is_string() && !value.is_bool())
    Fail(fmt::format("unsupported format string passed to {}.__format__", TypeName(value)));
  if (spec.kind != 's' && spec.kind != '\0')
    Fail(fmt::format("Unknown format code '{}' for object of type 'str'", spec.kind));
  Text text = ToText(value);
  if (spec.precision >= 0) {
    const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
    text = text.Slice(0, offsets[std::min(static_cast<size_t>(spec.precision), offsets.size() - 1)]);
  }
  return PadTo(context, spec, text, false);
}

class BraceFormatter {
 public:
  BraceFormatter(Context& context, const Text& format, const Arguments& arguments)
      : context_(context), format_(format), bytes_(format.bytes()), arguments_(arguments) {}

  Text Run() && {
    while (at_ < bytes_.size()) {
      const size_t brace = std::min(bytes_.find_first_of("{}", at_), bytes_.size());
      out_.AppendSlice(format_, at_, brace);
      at_ = brace;
      if (at_ < bytes_.size()) Brace();
      if (out_.size() > context_.max_bytes()) context_.ChargeBytes(out_.size());
    }
    context_.ChargeBytes(out_.size());
    return out_.Take();
  }

 private:
  void Brace() {
    const char brace = bytes_[at_++];
    if (at_ < bytes_.size() && bytes_[at_] == brace)
      return out_.AppendSlice(format_, at_, at_ + 1), static_cast<void>(++at_);
    if (brace == '}') Fail("Single '}' encountered in format string");
    const size_t close = bytes_.find('}', at_);
    if (close == std::string_view::npos) Fail("expected '}' before end of string");
    Field(bytes_.substr(at_, close - at_));
    at_ = close + 1;
  }

  void Field(std::string_view field) {
    const size_t colon = std::min(field.find(':'), field.size());
    const std::string_view specification = colon < field.size() ? field.substr(colon + 1) : std::string_view();
    std::string_view name = field.substr(0, colon);
    bool repr = false;
    if (const size_t bang = name.find('!'); bang != std::string_view::npos) {
      repr = name.substr(bang) == "!r";
      name = name.substr(0, bang);
    }
    const Value value = Lookup(name);
    out_.Append(FormatValue(context_, repr ? Value(Repr(context_, value)) : value, specification));
  }

  // "0", "name", "0.attribute", "name[key]"
  Value Lookup(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = LookupFirst(name.substr(0, end));
    name.remove_prefix(end);
    while (!name.empty()) {
      context_.Charge(1);
      const bool is_item = name[0] == '[';
      const size_t stop = std::min(is_item ? name.find(']') : name.find_first_of(".[", 1), name.size());
      const std::string_view part = name.substr(1, stop - 1);
      value = is_item ? GetItem(context_, value, KeyOf(part)) : GetAttribute(context_, value, part);
      name.remove_prefix(is_item ? std::min(stop + 1, name.size()) : stop);
    }
    return value;
  }

  static std::optional<size_t> AsIndex(std::string_view text) {
    size_t index = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
    return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::optional(index)
                                                                                            : std::nullopt;
  }

  static Value KeyOf(std::string_view text) {
    const auto index = AsIndex(text);
    return index ? Value(static_cast<Int>(*index)) : Value::MakeString(text);
  }

  Value LookupFirst(std::string_view name) {
    const auto index = name.empty() ? std::optional(next_++) : AsIndex(name);
    if (index) {
      if (*index >= arguments_.positional.size()) Fail("Replacement index out of range for positional args tuple");
      return arguments_.positional[*index];
    }
    const Value* found = arguments_.FindNamed(name);
    if (found == nullptr) Fail(fmt::format("the format names '{}', which is not given", name));
    return *found;
  }

  Context& context_;
  const Text& format_;
  const std::string_view bytes_;
  const Arguments& arguments_;
  size_t at_ = 0;
  size_t next_ = 0;
  TextBuilder out_;
};

}  // namespace

Text BraceFormat(Context& context, const Text& format, const Arguments& arguments) {
  return BraceFormatter(context, format, arguments).Run();
}

}  // namespace headstart::jinja
