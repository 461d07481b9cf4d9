// Filters that compare items with each other: sort, unique, min, max, sum, groupby, dictsort.

#include <algorithm>

#include "engine/text/template/attribute_path.h"
#include "engine/text/template/context.h"
#include "engine/text/template/expression.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/object.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

struct Keyed {
  List keys;
  Value item;
};

bool KeysLess(Context& context, const List& a, const List& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    context.Charge(1);
    if (!Compare(context, CompareOp::kEqual, a[i], b[i])) return Compare(context, CompareOp::kLess, a[i], b[i]);
  }
  return false;
}

// A merge sort of our own: its comparisons may throw or contradict each other, and it stays in bounds all the same.
void StableSort(Context& context, std::vector<Keyed>& items, bool reverse) {
  const auto less = [&](const Keyed& a, const Keyed& b) {
    return reverse ? KeysLess(context, b.keys, a.keys) : KeysLess(context, a.keys, b.keys);
  };
  std::vector<Keyed> other(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, items.size()), end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      for (size_t to = begin; to < end; ++to) {
        const bool take_right = left == middle || (right < end && less(items[right], items[left]));
        other[to] = std::move(items[take_right ? right++ : left++]);
      }
    }
    items.swap(other);
  }
}

Value KeyOf(Context& context, const AttributePath& path, const Value& item, bool case_sensitive) {
  const Value key = path.Get(context, item);
  return case_sensitive ? key : IgnoreCase(context, key);
}

Value Sort(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "sort", {"reverse", "case_sensitive", "attribute"});
  const auto paths = AttributePath::Several(bound.Get(2));
  std::vector<Keyed> items;
  for (Value& item : Iterate(context, input)) {
    List keys;
    for (const auto& path : paths) keys.push_back(KeyOf(context, path, item, bound.GetBool(1, false)));
    items.push_back({std::move(keys), std::move(item)});
  }
  StableSort(context, items, bound.GetBool(0, false));
  List sorted;
  for (Keyed& keyed : items) sorted.push_back(std::move(keyed.item));
  return Value::MakeList(std::move(sorted));
}

Value DictSort(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "dictsort", {"case_sensitive", "by", "reverse"});
  if (input.is_undefined()) Fail(input.undefined_message());
  if (!input.is_dict()) Fail(fmt::format("'{}' object has no attribute 'items'", TypeName(input)));
  const Text by = bound.GetText(1, "key");
  if (by.bytes() != "key" && by.bytes() != "value") Fail("You can only sort by either \"key\" or \"value\"");
  const AttributePath path(Value(Int{by.bytes() == "key" ? 0 : 1}));
  std::vector<Keyed> items;
  for (const auto& [key, value] : input.as_dict().entries()) {
    context.ChargeItems(4);
    const Value item = Value::MakeTuple({key, value});
    items.push_back({{KeyOf(context, path, item, bound.GetBool(0, false))}, item});
  }
  StableSort(context, items, bound.GetBool(2, false));
  List sorted;
  for (Keyed& keyed : items) sorted.push_back(std::move(keyed.item));
  return Value::MakeList(std::move(sorted));
}

Value Unique(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "unique", {"case_sensitive", "attribute"});
  const AttributePath path(bound.Get(1));
  List unique, seen;
  for (Value& item : Iterate(context, input)) {
    Value key = KeyOf(context, path, item, bound.GetBool(0, false));
    RequireHashable(key);
    const bool known = std::any_of(seen.begin(), seen.end(),
                                   [&](const Value& other) { return Compare(context, CompareOp::kEqual, key, other); });
    if (known) continue;
    seen.push_back(std::move(key));
    unique.push_back(std::move(item));
  }
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kGenerator, std::move(unique)));
}

template <CompareOp better>
Value Extreme(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "min", {"case_sensitive", "attribute"});
  const AttributePath path(bound.Get(1));
  const List items = Iterate(context, input);
  if (items.empty()) return Value::MakeUndefined("No aggregated item, sequence was empty.");
  size_t best = 0;
  Value best_key = KeyOf(context, path, items[0], bound.GetBool(0, false));
  for (size_t i = 1; i < items.size(); ++i) {
    Value key = KeyOf(context, path, items[i], bound.GetBool(0, false));
    if (!Compare(context, better, key, best_key)) continue;
    best = i;
    best_key = std::move(key);
  }
  return items[best];
}

Value Sum(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "sum", {"attribute", "start"});
  const AttributePath path(bound.Get(0));
  Value total = bound.Get(1, Value(Int{0}));
  if (total.is_string()) Fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& item : Iterate(context, input))
    total = Arithmetic(context, ArithmeticOp::kAdd, total, path.Get(context, item));
  return total;
}

Value GroupBy(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "groupby", {"attribute", "default", "case_sensitive"});
  const AttributePath path(bound.Require(0), bound.GetOptional(1));
  const bool case_sensitive = bound.GetBool(2, false);
  std::vector<Keyed> items;
  for (Value& item : Iterate(context, input)) {
    List keys{KeyOf(context, path, item, case_sensitive)};
    items.push_back({std::move(keys), std::move(item)});
  }
  StableSort(context, items, false);
  List groups;
  for (size_t begin = 0, end; begin < items.size(); begin = end) {
    List members;
    for (end = begin;
         end < items.size() && Compare(context, CompareOp::kEqual, items[begin].keys[0], items[end].keys[0]); ++end) {
      members.push_back(items[end].item);
    }
    if (end == begin) ++end;  // a key that does not equal itself
    Value name = path.Get(context, items[begin].item);
    List pair{std::move(name), Value::MakeList(std::move(members))};
    groups.emplace_back(std::make_shared<const Sequence>(Sequence::Flavor::kTuple, std::move(pair),
                                                         std::string(Sequence::kGroupLabel)));
  }
  return Value::MakeList(std::move(groups));
}

constexpr NamedFilter kFilters[] = {{"sort", Sort},
                                    {"dictsort", DictSort},
                                    {"unique", Unique},
                                    {"min", Extreme<CompareOp::kLess>},
                                    {"max", Extreme<CompareOp::kGreater>},
                                    {"sum", Sum},
                                    {"groupby", GroupBy}};

}  // namespace

std::span<const NamedFilter> OrderingFilters() { return kFilters; }

}  // namespace headstart::jinja
