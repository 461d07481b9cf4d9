#include "engine/text/template/operators.h"

#include <algorithm>

#include "engine/text/template/context.h"
#include "engine/text/template/methods.h"
#include "engine/text/template/object.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/search.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

using Flavor = Sequence::Flavor;

bool SequencesEqual(const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  if (a.flavor() != b.flavor() || !a.has_length() || a.items().size() != b.items().size()) return false;
  return std::equal(a.items().begin(), a.items().end(), b.items().begin(), Equals);
}

bool DictsEqual(const Dict& a, const Dict& b) {
  if (&a == &b) return true;
  if (a.entries().size() != b.entries().size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = b.Find(entry.first);
    return other != nullptr && Equals(entry.second, *other);
  });
}

bool NumbersEqual(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  return a.as_float() == b.as_float();
}

bool ListLessThan(const List& a, const List& b, std::string_view symbol) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!Equals(a[i], b[i])) return LessThan(a[i], b[i], symbol);
  }
  return a.size() < b.size();
}

// The name that Undefined's messages give the type.
std::string ObjectName(const Value& value) { return value.is_none() ? "None" : TypeName(value) + " object"; }

Value MissingAttribute(const Value& value, std::string_view name) {
  return Value::MakeUndefined(fmt::format("'{}' has no attribute {}", ObjectName(value), QuoteString(name)));
}

Value MissingItem(const Value& value, const Value& key) {
  if (key.is_string()) return MissingAttribute(value, key.as_text().bytes().substr(0, 100));
  const bool prints_short = key.is_number() || key.is_none();
  return Value::MakeUndefined(fmt::format("{} has no element {}", ObjectName(value),
                                          prints_short ? std::string(ToText(key).bytes()) : TypeName(key)));
}

// Python's slice.indices().
struct SliceRange {
  Int start, stop, step;
};

Int ClampIndex(const std::optional<Int>& index, Int otherwise, Int size, bool backwards) {
  if (!index) return otherwise;
  const Int lowest = backwards ? -1 : 0;
  const Int highest = backwards ? size - 1 : size;
  return std::clamp(*index < 0 ? std::max(*index, -size - 1) + size : *index, lowest, highest);
}

SliceRange Resolve(const SliceBounds& bounds, Int size) {
  const Int step = bounds.step.value_or(1);
  if (step == 0) Fail("slice step cannot be zero");
  const bool backwards = step < 0;
  return {ClampIndex(bounds.start, backwards ? size - 1 : 0, size, backwards),
          ClampIndex(bounds.stop, backwards ? -1 : size, size, backwards), step};
}

template <typename Visit>
void ForEachIndex(const SliceRange& range, Visit visit) {
  for (Int i = range.start; range.step > 0 ? i < range.stop : i > range.stop; i += range.step) {
    visit(static_cast<size_t>(i));
    if (range.step > 0 ? range.stop - i <= range.step : range.stop - i >= range.step) break;  // i + step might overflow
  }
}

Text SliceText(const Text& text, const SliceBounds& bounds) {
  const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
  const SliceRange range = Resolve(bounds, static_cast<Int>(offsets.size()) - 1);
  if (range.step == 1) {
    const auto start = static_cast<size_t>(range.start);
    return text.Slice(offsets[start], offsets[std::max(start, static_cast<size_t>(range.stop))]);
  }
  TextBuilder builder;
  ForEachIndex(range, [&](size_t i) { builder.AppendSlice(text, offsets[i], offsets[i + 1]); });
  return builder.Take();
}

std::optional<size_t> ResolveIndex(const Value& key, size_t size) {
  if (!key.is_integral()) return std::nullopt;
  const Int index = key.as_int() < 0 ? key.as_int() + static_cast<Int>(size) : key.as_int();
  return index >= 0 && index < static_cast<Int>(size) ? std::optional(static_cast<size_t>(index)) : std::nullopt;
}

std::optional<Value> IndexText(Context& context, const Text& text, const Value& key) {
  context.ChargeBytes(text.size());
  const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
  const auto index = ResolveIndex(key, offsets.size() - 1);
  if (!index) return std::nullopt;
  return Value(text.Slice(offsets[*index], offsets[*index + 1]));
}

std::optional<Value> FindItem(Context& context, const Value& value, const Value& key) {
  if (value.is_dict()) {
    const Value* found = value.as_dict().Find(key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (value.is_string() && key.is_integral()) return IndexText(context, value.as_text(), key);
  if (!value.is(Value::Kind::kSequence) || !value.as_sequence().has_index()) return std::nullopt;
  const auto index = ResolveIndex(key, value.as_sequence().items().size());
  return index ? std::optional(value.as_sequence().items()[*index]) : std::nullopt;
}

std::optional<Value> FindAttribute(Context& context, const Value& value, std::string_view name) {
  if (value.is(Value::Kind::kObject)) return value.as_object()->Attribute(context, name);
  if (value.is(Value::Kind::kSequence)) {
    if (const Value* part = value.as_sequence().FindPart(name)) return *part;
  }
  return FindMethod(value, name);
}

List CodePoints(const Text& text) {
  const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
  List items;
  items.reserve(offsets.size() - 1);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) items.emplace_back(text.Slice(offsets[i], offsets[i + 1]));
  return items;
}

}  // namespace

bool Equals(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return NumbersEqual(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kString:
      return a.as_text() == b.as_text();
    case Value::Kind::kSequence:
      return SequencesEqual(a.as_sequence(), b.as_sequence());
    case Value::Kind::kDict:
      return DictsEqual(a.as_dict(), b.as_dict());
    case Value::Kind::kObject:
      return a.as_object() == b.as_object();
    default:
      return true;  // undefined and none
  }
}

bool LessThan(const Value& a, const Value& b, std::string_view symbol) {
  for (const Value* value : {&a, &b}) {
    if (value->is_undefined()) Fail(value->undefined_message());
  }
  if (a.is_integral() && b.is_integral()) return a.as_int() < b.as_int();
  if (a.is_number() && b.is_number()) return a.as_float() < b.as_float();
  if (a.is_string() && b.is_string()) return a.as_text().bytes() < b.as_text().bytes();
  if (a.is(Value::Kind::kSequence) && b.is(Value::Kind::kSequence) &&
      a.as_sequence().flavor() == b.as_sequence().flavor() && a.as_sequence().flavor() <= Flavor::kTuple) {
    return ListLessThan(a.as_sequence().items(), b.as_sequence().items(), symbol);
  }
  Fail(fmt::format("'{}' not supported between instances of '{}' and '{}'", symbol, TypeName(a), TypeName(b)));
}

void ChargeComparison(Context& context, const Value& a, const Value& b) {
  context.Charge(std::min(a.summary().weight, b.summary().weight));
}

bool Contains(Context& context, const Value& container, const Value& item) {
  context.Charge(container.is_dict() ? 1 : container.summary().weight);
  switch (container.kind()) {
    case Value::Kind::kUndefined:
      return false;
    case Value::Kind::kString:
      if (!item.is_string()) Fail(fmt::format("'in <string>' requires string as left operand, not {}", TypeName(item)));
      return FindBytes(container.as_text().bytes(), item.as_text().bytes(), 0) != std::string_view::npos;
    case Value::Kind::kDict:
      RequireHashable(item);
      return container.as_dict().Find(item) != nullptr;
    case Value::Kind::kSequence: {
      const List& items = container.as_sequence().Iterate();
      return std::any_of(items.begin(), items.end(), [&](const Value& v) { return v.SameAs(item) || Equals(v, item); });
    }
    default:
      Fail(fmt::format("argument of type '{}' is not iterable", TypeName(container)));
  }
}

Int LengthOf(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return 0;
    case Value::Kind::kString:
      return static_cast<Int>(CountCodePoints(value.as_text().bytes()));
    case Value::Kind::kDict:
      return static_cast<Int>(value.as_dict().entries().size());
    case Value::Kind::kSequence:
      if (value.as_sequence().has_length()) return static_cast<Int>(value.as_sequence().items().size());
      [[fallthrough]];
    default:
      Fail(fmt::format("object of type '{}' has no len()", TypeName(value)));
  }
}

std::shared_ptr<const Dict> MakeDict(Context& context, std::vector<Dict::Entry> entries) {
  context.ChargeItems(entries.size() * 2);
  return std::make_shared<const Dict>(std::move(entries));
}

bool IsIterable(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is_dict() || value.is(Value::Kind::kSequence);
}

List Iterate(Context& context, const Value& value) {
  List items;
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return {};
    case Value::Kind::kSequence:
      items = value.as_sequence().Iterate();
      break;
    case Value::Kind::kString:
      context.ChargeItems(value.as_text().size() * Context::kItemsPerStep);  // an allocation each
      return CodePoints(value.as_text());
    case Value::Kind::kDict:
      for (const auto& entry : value.as_dict().entries()) items.push_back(entry.first);
      break;
    default:
      Fail(fmt::format("'{}' object is not iterable", TypeName(value)));
  }
  context.ChargeItems(items.size());
  return items;
}

Value GetItem(Context& context, const Value& value, const Value& key) {
  if (value.is_undefined()) Fail(value.undefined_message());
  if (auto item = FindItem(context, value, key)) return *std::move(item);
  if (key.is_string()) {
    if (auto attribute = FindAttribute(context, value, key.as_text().bytes())) return *std::move(attribute);
  }
  return MissingItem(value, key);
}

Value GetAttribute(Context& context, const Value& value, std::string_view name) {
  if (value.is_undefined()) Fail(value.undefined_message());
  if (auto attribute = FindAttribute(context, value, name)) return *std::move(attribute);
  if (value.is_dict()) {
    if (const Value* found = value.as_dict().Find(name)) return *found;
  }
  return MissingAttribute(value, name);
}

Value GetSlice(Context& context, const Value& value, const SliceBounds& bounds) {
  if (value.is_undefined()) Fail(value.undefined_message());
  if (value.is_string()) {
    context.ChargeBytes(value.as_text().size());
    return Value(SliceText(value.as_text(), bounds));
  }
  if (value.is_dict()) Fail("unhashable type: 'slice'");
  if (!value.is(Value::Kind::kSequence) || !value.as_sequence().has_index()) {
    return Value::MakeUndefined(fmt::format("{} has no element slice", ObjectName(value)));
  }
  const List& items = value.as_sequence().items();
  const SliceRange range = Resolve(bounds, static_cast<Int>(items.size()));
  List taken;
  ForEachIndex(range, [&](size_t i) { taken.push_back(items[i]); });
  context.ChargeItems(taken.size());
  const bool is_tuple = value.as_sequence().flavor() == Flavor::kTuple;
  return is_tuple ? Value::MakeTuple(std::move(taken)) : Value::MakeList(std::move(taken));
}

std::optional<Value> Object::Attribute(Context&, std::string_view) { return std::nullopt; }

Value Object::Call(Context&, const Arguments&) { Fail(fmt::format("'{}' object is not callable", type_name())); }

}  // namespace headstart::jinja
