// Filters on mappings, attributes and missing values.

#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/object.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"

namespace headstart::jinja {
namespace {

Value Default(Context&, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "default", {"default_value", "boolean"});
  const bool missing = input.is_undefined() || (bound.GetBool(1, false) && !IsTrue(input));
  return missing ? bound.Get(0, Value(Text())) : input;
}

Value Items(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "items", {});
  List items;
  if (input.is_dict()) {
    for (const auto& [key, value] : input.as_dict().entries()) items.push_back(Value::MakeTuple({key, value}));
  } else if (!input.is_undefined()) {
    Fail("Can only get item pairs from a mapping.");
  }
  context.ChargeItems(items.size() * 4);
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kGenerator, std::move(items)));
}

// Attributes alone, never the keys of a dict.
Value Attr(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "attr", {"name"});
  const Text name = ToText(bound.Require(0));
  const Value found = GetAttribute(context, input, name.bytes());
  const bool is_key = input.is_dict() && !found.is(Value::Kind::kObject);
  return is_key ? Value::MakeUndefined("'dict object' has no attribute " + QuoteString(name.bytes())) : found;
}

Value PrettyPrint(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "pprint", {});
  Text text = Repr(context, input);
  context.ChargeBytes(text.size());
  return Value(std::move(text));
}

constexpr NamedFilter kFilters[] = {
    {"default", Default}, {"d", Default}, {"items", Items}, {"attr", Attr}, {"pprint", PrettyPrint}};

}  // namespace

std::span<const NamedFilter> MappingFilters() { return kFilters; }

}  // namespace headstart::jinja
