// Filters on strings as they are: case, trimming, replacing, joining, formatting.

#include "engine/text/template/attribute_path.h"
#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/json_value.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/percent_format.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

Text InputText(Context& context, const Value& input) {
  Text text = ToText(context, input);
  context.ChargeBytes(text.size());
  return text;
}

template <CaseMapping mapping>
Value Case(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "upper", {});
  return Value(MapCase(context, InputText(context, input), mapping));
}

Value Title(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "title", {});
  return Value(TitleFilter(context, InputText(context, input)));
}

Value Trim(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "trim", {"chars"});
  std::optional<Text> chars;
  if (const auto given = bound.GetOptional(0)) {
    chars = ToText(context, *given);
    context.Charge(static_cast<int64_t>(chars->size()));  // they are sorted
  }
  return Value(Strip(InputText(context, input), Side::kBoth, chars));
}

Value ReplaceFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "replace", {"old", "new", "count"});
  const Text from = ToText(context, bound.Require(0));
  const Text to = ToText(context, bound.Require(1));
  const auto count = bound.GetOptional(2);
  return Value(Replace(context, InputText(context, input), from, to, count ? bound.GetInt(2, -1) : -1));
}

Value JoinFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "join", {"d", "attribute"});
  List items = Iterate(context, input);
  if (const auto attribute = bound.GetOptional(1)) {
    const AttributePath path(*attribute);
    for (Value& item : items) item = path.Get(context, item);
  }
  return Value(JoinTexts(context, bound.GetText(0, ""), items, JoinItems::kConvert));
}

Value StringFilter(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "string", {});
  return Value(InputText(context, input));
}

Value FormatFilter(Context& context, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    Fail("can't handle positional and keyword arguments at the same time");
  }
  if (arguments.named.empty()) {
    return Value(PercentFormat(context, InputText(context, input), Value::MakeTuple(arguments.positional)));
  }
  std::vector<Dict::Entry> entries;
  for (const auto& [name, value] : arguments.named) entries.emplace_back(Value::MakeString(name), value);
  return Value(PercentFormat(context, InputText(context, input), Value(MakeDict(context, std::move(entries)))));
}

bool IsWordCharacter(char32_t c) { return c == '_' || IsAlpha(c) || IsDecimal(c); }

Value WordCount(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "wordcount", {});
  const Text text = InputText(context, input);
  Int words = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeAt(text.bytes(), i);
    const bool is_word = IsWordCharacter(c.value);
    if (is_word && !inside) ++words;
    inside = is_word;
    i += c.size;
  }
  return Value(words);
}

// The indent argument of json.dumps: a number of spaces or the text itself.
std::optional<Text> JsonIndent(Context& context, const BoundArguments& bound, size_t index) {
  const auto indent = bound.GetOptional(index);
  if (!indent) return std::nullopt;
  if (indent->is_string()) return indent->as_text();
  return Pad(context, Text(), bound.GetInt(index, 0), Alignment::kLeft, Text(" "));
}

Value ToJsonFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  DumpOptions options;
  options.ensure_ascii = bound.GetBool(0, false);
  options.indent = JsonIndent(context, bound, 1);
  options.sort_keys = bound.GetBool(3, false);
  if (options.indent) options.item_separator = ",";
  if (const auto separators = bound.GetOptional(2)) {
    const List pair = Iterate(context, *separators);
    if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) Fail("separators must be a pair of strings");
    options.item_separator = pair[0].as_text().bytes();
    options.key_separator = pair[1].as_text().bytes();
  }
  Text json = ToJson(input, options, context.max_bytes());
  context.Charge(static_cast<int64_t>(json.size() / kPrintedBytesPerStep));
  return Value(std::move(json));
}

constexpr NamedFilter kFilters[] = {{"upper", Case<CaseMapping::kUpper>},
                                    {"lower", Case<CaseMapping::kLower>},
                                    {"capitalize", Case<CaseMapping::kCapitalize>},
                                    {"title", Title},
                                    {"trim", Trim},
                                    {"replace", ReplaceFilter},
                                    {"join", JoinFilter},
                                    {"string", StringFilter},
                                    {"format", FormatFilter},
                                    {"wordcount", WordCount},
                                    {"tojson", ToJsonFilter}};

}  // namespace

std::span<const NamedFilter> TextFilters() { return kFilters; }

}  // namespace headstart::jinja
