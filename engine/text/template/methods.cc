#include "engine/text/template/methods.h"

#include <algorithm>
#include <initializer_list>

#include "engine/text/template/context.h"
#include "engine/text/template/expression.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

Value MakeView(Context& context, Sequence::Flavor flavor, List items) {
  context.ChargeItems(items.size());
  return Value(std::make_shared<const Sequence>(flavor, std::move(items)));
}

Value DictItems(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "items", {});
  List items;
  for (const auto& [key, value] : self.as_dict().entries()) items.push_back(Value::MakeTuple({key, value}));
  return MakeView(context, Sequence::Flavor::kItemsView, std::move(items));
}

Value DictKeys(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "keys", {});
  List items;
  for (const auto& entry : self.as_dict().entries()) items.push_back(entry.first);
  return MakeView(context, Sequence::Flavor::kKeysView, std::move(items));
}

Value DictValues(Context& context, const Value& self, const Arguments& arguments) {
  Bind(arguments, "values", {});
  List items;
  for (const auto& entry : self.as_dict().entries()) items.push_back(entry.second);
  return MakeView(context, Sequence::Flavor::kValuesView, std::move(items));
}

Value DictGet(Context&, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "get", {"key", "default"});
  RequireHashable(bound.Require(0));
  const Value* found = self.as_dict().Find(bound.Require(0));
  return found != nullptr ? *found : bound.Get(1);
}

Value Copy(Context&, const Value& self, const Arguments& arguments) {
  Bind(arguments, "copy", {});
  return self;  // nothing changes either of them
}

Value SequenceIndex(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "index", {"value", "start", "stop"});
  const List& items = self.as_sequence().items();
  const Int size = static_cast<Int>(items.size());
  const auto clamp = [size](Int i) { return std::clamp(i < 0 ? i + size : i, Int{0}, size); };
  const Int stop = clamp(bound.GetInt(2, size));
  for (Int i = clamp(bound.GetInt(1, 0)); i < stop; ++i) {
    if (Compare(context, CompareOp::kEqual, items[static_cast<size_t>(i)], bound.Require(0))) return Value(i);
  }
  Fail("the value is not in the list");
}

Value SequenceCount(Context& context, const Value& self, const Arguments& arguments) {
  const auto bound = Bind(arguments, "count", {"value"});
  const List& items = self.as_sequence().items();
  const auto count = std::count_if(items.begin(), items.end(), [&](const Value& item) {
    return Compare(context, CompareOp::kEqual, item, bound.Require(0));
  });
  return Value(static_cast<Int>(count));
}

constexpr NamedMethod kDictMethods[] = {
    {"items", DictItems}, {"keys", DictKeys}, {"values", DictValues}, {"get", DictGet}, {"copy", Copy}};

constexpr NamedMethod kSequenceMethods[] = {{"index", SequenceIndex}, {"count", SequenceCount}};

bool IsAmong(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Attributes that exist in Python and that the immutable sandbox withholds.
bool IsUnsafe(const Value& value, std::string_view name) {
  if (value.is_dict()) return IsAmong(name, {"clear", "pop", "popitem", "setdefault", "update"});
  if (TypeName(value) != "list") return false;
  return IsAmong(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
}

bool IsInternal(std::string_view name) {
  return IsAmong(name, {"__class__", "__dict__", "__init__", "__doc__", "__eq__", "__hash__", "__getattribute__",
                        "__subclasshook__", "__reduce__", "__new__"});
}

}  // namespace

const NamedMethod* FindDictMethod(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kDictMethods), std::end(kDictMethods), [&](const auto& m) { return m.name == name; });
  return found == std::end(kDictMethods) ? nullptr : found;
}

const NamedMethod* FindSequenceMethod(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSequenceMethods), std::end(kSequenceMethods),
                                   [&](const auto& m) { return m.name == name; });
  return found == std::end(kSequenceMethods) ? nullptr : found;
}

std::optional<Value> FindMethod(const Value& value, std::string_view name) {
  if (IsUnsafe(value, name) || IsInternal(name)) {
    return Value::MakeUndefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, TypeName(value)));
  }
  const NamedMethod* method = nullptr;
  if (value.is_dict()) method = FindDictMethod(name);
  if (value.is_string()) method = FindStringMethod(name);
  const bool is_sequence = value.is(Value::Kind::kSequence) && value.as_sequence().has_index();
  if (is_sequence) method = FindSequenceMethod(name);
  const bool is_list = is_sequence && value.as_sequence().flavor() == Sequence::Flavor::kList;
  if (is_list && name == "copy") return MakeMethod("copy", Copy, value);
  if (method == nullptr) return std::nullopt;
  return MakeMethod(method->name, method->method, value);
}

}  // namespace headstart::jinja
