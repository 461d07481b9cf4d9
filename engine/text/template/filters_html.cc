// Filters for HTML and URLs. Prompts are not HTML, so nothing is ever escaped unasked, and what is escaped is text like
// any other.

#include <array>

#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&#34;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

Value Escape(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "escape", {});
  const Text text = ToText(context, input);
  OriginCursor origin(text);
  TextBuilder builder;
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view entity = Entity(text.bytes()[i]);
    if (entity.empty()) continue;
    builder.AppendSlice(text, copied, i);
    builder.Append(entity, origin.At(i));
    copied = i + 1;
  }
  builder.AppendSlice(text, copied, text.size());
  context.ChargeBytes(builder.size());
  return Value(builder.Take());
}

Value Safe(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "safe", {});
  return Value(ToText(context, input));
}

bool IsUnreserved(char c, bool in_query) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric || c == '_' || c == '.' || c == '-' || c == '~' || (c == '/' && !in_query);
}

void AppendQuoted(Context& context, const Text& text, bool in_query, TextBuilder& builder) {
  context.ChargeBytes(text.size());
  OriginCursor origin(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    if (IsUnreserved(c, in_query)) {
      builder.Append(std::string_view(&c, 1), origin.At(i));
    } else if (in_query && c == ' ') {
      builder.Append("+", origin.At(i));
    } else {
      builder.Append(fmt::format("%{:02X}", static_cast<unsigned char>(c)), origin.At(i));
    }
  }
  context.ChargeBytes(builder.size());
}

Value UrlEncode(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "urlencode", {});
  TextBuilder builder;
  const bool is_one = input.is_string() || !IsIterable(input);
  if (is_one) {
    AppendQuoted(context, ToText(context, input), false, builder);
    return Value(builder.Take());
  }
  List pairs = Iterate(context, input);
  if (input.is_dict()) {
    for (Value& key : pairs) key = Value::MakeTuple({key, *input.as_dict().Find(key)});
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    const List pair = Iterate(context, pairs[i]);
    if (pair.size() != 2) Fail("urlencode expects pairs");
    if (i > 0) builder.Append("&");
    AppendQuoted(context, ToText(context, pair[0]), true, builder);
    builder.Append("=");
    AppendQuoted(context, ToText(context, pair[1]), true, builder);
  }
  return Value(builder.Take());
}

constexpr NamedFilter kFilters[] = {
    {"escape", Escape}, {"e", Escape}, {"forceescape", Escape}, {"safe", Safe}, {"urlencode", UrlEncode}};

}  // namespace

std::span<const NamedFilter> HtmlFilters() { return kFilters; }

}  // namespace headstart::jinja
