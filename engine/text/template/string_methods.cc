// Methods of str.

#include <algorithm>
#include <functional>

#include "engine/text/template/context.h"
#include "engine/text/template/methods.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/percent_format.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/search.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

const Text& RequireText(const Value& value, std::string_view method) {
  if (!value.is_string()) Fail(fmt::format("{}() argument must be str, not {}", method, TypeName(value)));
  return value.as_text();
}

std::optional<Text> OptionalText(const BoundArguments& bound, size_t index, std::string_view method) {
  const auto value = bound.GetOptional(index);
  return value ? std::optional(RequireText(*value, method)) : std::nullopt;
}

template <Side side>
Value StripMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "strip", {"chars"});
  context.ChargeBytes(self.as_text().size());
  const auto chars = OptionalText(bound, 0, "strip");
  if (chars) context.Charge(static_cast<int64_t>(chars->size()));  // they are sorted
  return Value(Strip(self.as_text(), side, chars));
}

template <CaseMapping mapping>
Value CaseMethod(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "upper", {});
  return Value(MapCase(context, self.as_text(), mapping));
}

Value SplitMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "split", {"sep", "maxsplit"});
  return Value::MakeList(Split(context, self.as_text(), OptionalText(bound, 0, "split"), bound.GetInt(1, -1)));
}

Value RightSplitMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "rsplit", {"sep", "maxsplit"});
  return Value::MakeList(
      SplitFromRight(context, self.as_text(), OptionalText(bound, 0, "rsplit"), bound.GetInt(1, -1)));
}

Value SplitLinesMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "splitlines", {"keepends"});
  return Value::MakeList(
      SplitLines(context, self.as_text(), bound.GetBool(0, false) ? LineEnds::kKeep : LineEnds::kDrop));
}

Value PartitionAt(const Text& text, size_t found, size_t size) {
  const Text whole_parts[] = {text.Slice(0, found), text.Slice(found, found + size),
                              text.Slice(found + size, text.size())};
  return Value::MakeTuple({Value(whole_parts[0]), Value(whole_parts[1]), Value(whole_parts[2])});
}

template <Side side>
Value PartitionMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "partition", {"sep"});
  const Text& separator = RequireText(bound.Require(0), "partition");
  const Text& text = self.as_text();
  context.ChargeBytes(text.size());
  if (separator.empty()) Fail("empty separator");
  const bool from_left = side == Side::kLeft;
  const size_t found =
      from_left ? FindBytes(text.bytes(), separator.bytes(), 0) : FindLastBytes(text.bytes(), separator.bytes());
  if (found != std::string_view::npos) return PartitionAt(text, found, separator.size());
  return PartitionAt(text, from_left ? text.size() : 0, 0);
}

// The byte range of the slice [start, end) that find, count and startswith take.
struct Window {
  std::vector<size_t> offsets;
  Int start;
  Int end;

  bool valid() const { return start <= end; }
  size_t begin_byte() const { return offsets[static_cast<size_t>(start)]; }
  std::string_view Of(const Text& text) const {
    return text.bytes().substr(begin_byte(), offsets[static_cast<size_t>(end)] - begin_byte());
  }
};

Window MakeWindow(Context& context, const Text& text, const BoundArguments& bound) {
  context.ChargeBytes(text.size());
  Window window{CodePointOffsets(text.bytes()), 0, 0};
  const Int size = static_cast<Int>(window.offsets.size()) - 1;
  const auto resolve = [size](Int i) { return i < 0 ? std::max<Int>(i + size, 0) : i; };
  window.start = bound.GetOptional(1) ? resolve(bound.GetInt(1, 0)) : 0;
  window.end = bound.GetOptional(2) ? std::min(resolve(bound.GetInt(2, 0)), size) : size;
  return window;
}

Int FindIn(Context& context, const Value& self, const BoundArguments& bound, Side side, std::string_view name) {
  const Text& needle = RequireText(bound.Require(0), name);
  const Window window = MakeWindow(context, self.as_text(), bound);
  if (!window.valid()) return -1;
  const std::string_view bytes = window.Of(self.as_text());
  const size_t found = side == Side::kLeft ? FindBytes(bytes, needle.bytes(), 0) : FindLastBytes(bytes, needle.bytes());
  if (found == std::string_view::npos) return -1;
  const auto place = std::lower_bound(window.offsets.begin(), window.offsets.end(), window.begin_byte() + found);
  return static_cast<Int>(place - window.offsets.begin());
}

template <Side side>
Value FindMethodOfString(Context& context, const Value& self, const Arguments& arguments) {
  return Value(FindIn(context, self, Bind(arguments, "find", {"sub", "start", "end"}), side, "find"));
}

template <Side side>
Value IndexMethod(Context& context, const Value& self, const Arguments& arguments) {
  const Int found = FindIn(context, self, Bind(arguments, "index", {"sub", "start", "end"}), side, "index");
  if (found < 0) Fail("substring not found");
  return Value(found);
}

Value CountMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "count", {"sub", "start", "end"});
  const Text& needle = RequireText(bound.Require(0), "count");
  const Window window = MakeWindow(context, self.as_text(), bound);
  if (!window.valid()) return Value(Int{0});
  if (needle.empty()) return Value(window.end - window.start + 1);
  const std::string_view bytes = window.Of(self.as_text());
  Int count = 0;
  for (size_t at = FindBytes(bytes, needle.bytes(), 0); at != std::string_view::npos;
       at = FindBytes(bytes, needle.bytes(), at + needle.size())) {
    ++count;
  }
  return Value(count);
}

bool MatchesEnd(std::string_view bytes, std::string_view affix, Side side) {
  if (affix.size() > bytes.size()) return false;
  return (side == Side::kLeft ? bytes.substr(0, affix.size()) : bytes.substr(bytes.size() - affix.size())) == affix;
}

// The affix may be a tuple of several.
template <Side side>
Value AffixMethod(Context& context, const Value& self, const Arguments& arguments) {
  constexpr std::string_view kName = side == Side::kLeft ? "startswith" : "endswith";
  const auto bound = Bind(arguments, kName, {"prefix", "start", "end"});
  const Value& affix = bound.Require(0);
  const bool whole = !bound.Has(1) && !bound.Has(2);
  std::string_view bytes = self.as_text().bytes();
  if (!whole) {
    const Window window = MakeWindow(context, self.as_text(), bound);
    if (!window.valid()) return Value(false);
    bytes = window.Of(self.as_text());
  }
  context.Charge(affix.summary().weight);
  const bool is_tuple = affix.is(Value::Kind::kSequence) && affix.as_sequence().flavor() == Sequence::Flavor::kTuple;
  if (!is_tuple) return Value(MatchesEnd(bytes, RequireText(affix, kName).bytes(), side));
  const List& all = affix.as_sequence().items();
  return Value(std::any_of(all.begin(), all.end(),
                           [&](const Value& one) { return MatchesEnd(bytes, RequireText(one, kName).bytes(), side); }));
}

template <Side side>
Value RemoveAffixMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "removeprefix", {"affix"});
  const Text& text = self.as_text();
  const Text& affix = RequireText(bound.Require(0), "removeprefix");
  context.ChargeBytes(text.size());
  if (!MatchesEnd(text.bytes(), affix.bytes(), side)) return self;
  if (side == Side::kLeft) return Value(text.Slice(affix.size(), text.size()));
  return Value(text.Slice(0, text.size() - affix.size()));
}

Value ReplaceMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "replace", {"old", "new", "count"});
  const Text& from = RequireText(bound.Require(0), "replace");
  const Text& to = RequireText(bound.Require(1), "replace");
  return Value(Replace(context, self.as_text(), from, to, bound.GetInt(2, -1)));
}

Value JoinMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "join", {"iterable"});
  return Value(JoinTexts(context, self.as_text(), Iterate(context, bound.Require(0)), JoinItems::kRefuse));
}

template <Alignment alignment>
Value PadMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "center", {"width", "fillchar"});
  bound.Require(0);
  return Value(Pad(context, self.as_text(), bound.GetInt(0, 0), alignment, bound.GetText(1, " ")));
}

Value ZeroFillMethod(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "zfill", {"width"});
  const Text& text = self.as_text();
  const bool is_signed = !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+');
  if (!is_signed) return Value(Pad(context, text, bound.GetInt(0, 0), Alignment::kRight, Text("0")));
  const Text digits = Pad(context, text.Slice(1, text.size()), bound.GetInt(0, 0) - 1, Alignment::kRight, Text("0"));
  return Value(Concat(text.Slice(0, 1), digits));
}

Value FormatMethod(Context& context, const Value& self, const Arguments& arguments) {
  return Value(BraceFormat(context, self.as_text(), arguments));
}

bool AllOf(const Text& text, const std::function<bool(char32_t)>& holds) {
  const std::string_view bytes = text.bytes();
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint c = DecodeAt(bytes, i);
    if (!holds(c.value)) return false;
    i += c.size;
  }
  return !bytes.empty();
}

template <bool (*Holds)(char32_t)>
Value AllMethod(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "is...", {});
  context.ChargeBytes(self.as_text().size());
  return Value(AllOf(self.as_text(), Holds));
}

bool IsAlphanumeric(char32_t c) { return IsAlpha(c) || IsDecimal(c); }

template <CaseMapping mapping>
Value IsCaseMethod(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "is...", {});
  return Value(IsAllOfCase(context, self.as_text(), mapping));
}

constexpr NamedMethod kStringMethods[] = {
    {"strip", StripMethod<Side::kBoth>},
    {"lstrip", StripMethod<Side::kLeft>},
    {"rstrip", StripMethod<Side::kRight>},
    {"upper", CaseMethod<CaseMapping::kUpper>},
    {"lower", CaseMethod<CaseMapping::kLower>},
    {"casefold", CaseMethod<CaseMapping::kLower>},
    {"title", CaseMethod<CaseMapping::kTitle>},
    {"capitalize", CaseMethod<CaseMapping::kCapitalize>},
    {"swapcase", CaseMethod<CaseMapping::kSwap>},
    {"split", SplitMethod},
    {"rsplit", RightSplitMethod},
    {"splitlines", SplitLinesMethod},
    {"partition", PartitionMethod<Side::kLeft>},
    {"rpartition", PartitionMethod<Side::kRight>},
    {"startswith", AffixMethod<Side::kLeft>},
    {"endswith", AffixMethod<Side::kRight>},
    {"removeprefix", RemoveAffixMethod<Side::kLeft>},
    {"removesuffix", RemoveAffixMethod<Side::kRight>},
    {"find", FindMethodOfString<Side::kLeft>},
    {"rfind", FindMethodOfString<Side::kRight>},
    {"index", IndexMethod<Side::kLeft>},
    {"rindex", IndexMethod<Side::kRight>},
    {"count", CountMethod},
    {"replace", ReplaceMethod},
    {"join", JoinMethod},
    {"format", FormatMethod},
    {"ljust", PadMethod<Alignment::kLeft>},
    {"rjust", PadMethod<Alignment::kRight>},
    {"center", PadMethod<Alignment::kCenter>},
    {"zfill", ZeroFillMethod},
    {"isspace", AllMethod<IsSpace>},
    {"isalpha", AllMethod<IsAlpha>},
    {"isdigit", AllMethod<IsDecimal>},
    {"isdecimal", AllMethod<IsDecimal>},
    {"isnumeric", AllMethod<IsDecimal>},
    {"isalnum", AllMethod<IsAlphanumeric>},
    {"isupper", IsCaseMethod<CaseMapping::kUpper>},
    {"islower", IsCaseMethod<CaseMapping::kLower>},
};

}  // namespace

const NamedMethod* FindStringMethod(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kStringMethods), std::end(kStringMethods), [&](const auto& m) { return m.name == name; });
  return found == std::end(kStringMethods) ? nullptr : found;
}

}  // namespace headstart::jinja
