// Filters on sequences that keep their order: length, first, map, select, batch and the like.

#include <algorithm>
#include <functional>

#include "engine/text/template/attribute_path.h"
#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/type_tests.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

Value MakeGenerator(List items) {
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kGenerator, std::move(items)));
}

Value Length(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "length", {});
  if (input.is_string()) context.ChargeBytes(input.as_text().size());
  return Value(LengthOf(input));
}

Value First(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "first", {});
  if (input.is_string() && !input.as_text().empty()) return GetItem(context, input, Value(Int{0}));
  const List items = Iterate(context, input);
  return items.empty() ? Value::MakeUndefined("No first item, sequence was empty.") : items.front();
}

Value Last(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "last", {});
  if (input.is(Value::Kind::kSequence) && !input.as_sequence().has_length())
    Fail("'generator' object is not reversible");
  if (input.is_string() && !input.as_text().empty()) return GetItem(context, input, Value(Int{-1}));
  const List items = Iterate(context, input);
  return items.empty() ? Value::MakeUndefined("No last item, sequence was empty.") : items.back();
}

Value ListFilter(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "list", {});
  return Value::MakeList(Iterate(context, input));
}

Value Reverse(Context& context, const Value& input, const Arguments& arguments) {
  Bind(arguments, "reverse", {});
  if (input.is_string()) {
    SliceBounds bounds;
    bounds.step = -1;
    return GetSlice(context, input, bounds);
  }
  List items = Iterate(context, input);
  std::reverse(items.begin(), items.end());
  return MakeGenerator(std::move(items));
}

constexpr Int kMaxFill = 100'000;  // as long as a range may be

Int RequirePositive(const BoundArguments& bound, size_t index, std::string_view what) {
  bound.Require(index);
  const Int value = bound.GetInt(index, 1);
  if (value <= 0) Fail(fmt::format("{} must be positive", what));
  return value;
}

Value Batch(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "batch", {"linecount", "fill_with"});
  const Int size = RequirePositive(bound, 0, "linecount");
  const auto fill = bound.GetOptional(1);
  List batches, batch;
  for (Value& item : Iterate(context, input)) {
    batch.push_back(std::move(item));
    if (static_cast<Int>(batch.size()) == size) batches.push_back(Value::MakeList(std::exchange(batch, {})));
  }
  if (!batch.empty() && fill) {
    const Int missing = size - static_cast<Int>(batch.size());
    if (missing > kMaxFill) FailLimit(fmt::format("batch fills more than {} items", kMaxFill));
    context.ChargeItems(static_cast<size_t>(missing));
    batch.resize(static_cast<size_t>(size), *fill);
  }
  if (!batch.empty()) batches.push_back(Value::MakeList(std::move(batch)));
  return MakeGenerator(std::move(batches));
}

Value SliceFilter(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "slice", {"slices", "fill_with"});
  const Int slices = RequirePositive(bound, 0, "slices");
  if (slices > kMaxFill) FailLimit(fmt::format("slice makes more than {} lists", kMaxFill));
  context.ChargeItems(static_cast<size_t>(slices) * 4);
  const auto fill = bound.GetOptional(1);
  const List items = Iterate(context, input);
  const size_t count = static_cast<size_t>(slices), size = items.size() / count, extra = items.size() % count;
  List all;
  auto at = items.begin();
  for (size_t i = 0; i < count; ++i) {
    const auto end = at + static_cast<ptrdiff_t>(size + (i < extra ? 1 : 0));
    List slice(at, end);
    if (fill && i >= extra) slice.push_back(*fill);
    all.push_back(Value::MakeList(std::move(slice)));
    at = end;
  }
  return MakeGenerator(std::move(all));
}

// What remains of the arguments after the first `count` positional ones.
Arguments Rest(const Arguments& arguments, size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<ptrdiff_t>(count));
  return rest;
}

std::function<Value(const Value&)> MapFunction(Context& context, const Arguments& arguments) {
  if (arguments.positional.empty() && arguments.FindNamed("attribute") != nullptr) {
    const auto bound = Bind(arguments, "map", {"attribute", "default"});
    return [&context, path = AttributePath(bound.Require(0), bound.GetOptional(1))](const Value& v) {
      return path.Get(context, v);
    };
  }
  if (arguments.positional.empty()) Fail("map requires a filter argument");
  const Text name = ToText(arguments.positional[0]);
  const Filter filter = FindFilter(name.bytes());
  if (filter == nullptr) Fail(fmt::format("No filter named '{}'.", name.bytes()));
  return [&context, filter, rest = Rest(arguments, 1)](const Value& v) { return filter(context, v, rest); };
}

Value Map(Context& context, const Value& input, const Arguments& arguments) {
  List items = Iterate(context, input);
  if (items.empty()) return MakeGenerator({});
  const DepthGuard depth(context);  // map may map itself
  const auto function = MapFunction(context, arguments);
  for (Value& item : items) {
    context.Charge(1);
    item = function(item);
  }
  return MakeGenerator(std::move(items));
}

// The test that select and the like name, or truth.
std::function<bool(const Value&)> Predicate(Context& context, const Arguments& arguments) {
  if (arguments.positional.empty()) return IsTrue;
  const Text name = ToText(arguments.positional[0]);
  const Test test = FindTest(name.bytes());
  if (test == nullptr) Fail(fmt::format("No test named '{}'.", name.bytes()));
  return [&context, test, rest = Rest(arguments, 1)](const Value& v) { return test(context, v, rest); };
}

Value Keep(Context& context, const Value& input, bool wanted, const std::function<bool(const Value&)>& holds) {
  List kept;
  for (Value& item : Iterate(context, input)) {
    context.Charge(1);
    if (holds(item) == wanted) kept.push_back(std::move(item));
  }
  return MakeGenerator(std::move(kept));
}

template <bool wanted>
Value Select(Context& context, const Value& input, const Arguments& arguments) {
  if (!IsTrue(input)) return MakeGenerator({});
  return Keep(context, input, wanted, Predicate(context, arguments));
}

template <bool wanted>
Value SelectAttribute(Context& context, const Value& input, const Arguments& arguments) {
  if (!IsTrue(input)) return MakeGenerator({});
  if (arguments.positional.empty()) Fail("Missing parameter for attribute name");
  const AttributePath path(arguments.positional[0]);
  const auto holds = Predicate(context, Rest(arguments, 1));
  return Keep(context, input, wanted, [&](const Value& item) { return holds(path.Get(context, item)); });
}

constexpr NamedFilter kFilters[] = {{"length", Length},
                                    {"count", Length},
                                    {"first", First},
                                    {"last", Last},
                                    {"list", ListFilter},
                                    {"reverse", Reverse},
                                    {"batch", Batch},
                                    {"slice", SliceFilter},
                                    {"map", Map},
                                    {"select", Select<true>},
                                    {"reject", Select<false>},
                                    {"selectattr", SelectAttribute<true>},
                                    {"rejectattr", SelectAttribute<false>}};

}  // namespace

std::span<const NamedFilter> SequenceFilters() { return kFilters; }

}  // namespace headstart::jinja
