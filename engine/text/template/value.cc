#include "engine/text/template/value.h"

#include <algorithm>

#include "engine/text/template/object.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr int64_t kMaxWeight = int64_t{1} << 60;  // more than any limit on steps, and twice it is still an int64_t
constexpr int64_t kMaxOtherKeys = 256;            // they are looked for one by one
constexpr int64_t kMaxKeyWeight = 64;             // a tuple as a key is a pair or so

std::string SequenceTypeName(Sequence::Flavor flavor) {
  switch (flavor) {
    case Sequence::Flavor::kList:
      return "list";
    case Sequence::Flavor::kTuple:
      return "tuple";
    case Sequence::Flavor::kRange:
      return "range";
    case Sequence::Flavor::kKeysView:
      return "dict_keys";
    case Sequence::Flavor::kValuesView:
      return "dict_values";
    case Sequence::Flavor::kItemsView:
      return "dict_items";
    case Sequence::Flavor::kGenerator:
      break;
  }
  return "generator";
}

}  // namespace

Value Value::MakeUndefined(std::string message) {
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(message))};
  return value;
}

Value Value::MakeList(List items) {
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kList, std::move(items)));
}

Value Value::MakeTuple(List items) {
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kTuple, std::move(items)));
}

bool Value::SameAs(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kNone:
      return true;
    case Kind::kSequence:
      return &as_sequence() == &other.as_sequence();
    case Kind::kDict:
      return &as_dict() == &other.as_dict();
    case Kind::kObject:
      return as_object() == other.as_object();
    default:
      return Equals(*this, other);
  }
}

Summary Value::summary() const {
  switch (kind()) {
    case Kind::kString: {
      constexpr size_t kBytesPerUnit = 64;
      return {0, 1 + static_cast<int64_t>(as_text().size() / kBytesPerUnit), as_text().HasCallerBytes()};
    }
    case Kind::kSequence:
      return as_sequence().summary();
    case Kind::kDict:
      return as_dict().summary();
    case Kind::kObject:
      return {as_object()->nesting(), 1, false};
    default:
      return {};
  }
}

void Summary::Add(const Summary& part) {
  nesting = std::max(nesting, part.nesting);
  weight = std::min(weight + part.weight, kMaxWeight);
  has_caller_bytes = has_caller_bytes || part.has_caller_bytes;
}

Summary Summary::Enclose() const {
  if (nesting >= kMaxNesting) FailLimit(fmt::format("values nest deeper than {} levels", kMaxNesting));
  return {nesting + 1, weight, has_caller_bytes};
}

Sequence::Sequence(Flavor flavor, List items, std::string label)
    : flavor_(flavor), items_(std::move(items)), label_(std::move(label)) {
  Summary parts;
  for (const Value& item : items_) parts.Add(item.summary());
  summary_ = parts.Enclose();
}

const Value* Sequence::FindPart(std::string_view name) const {
  if (label_ != kGroupLabel) return nullptr;
  if (name == "grouper") return &items_[0];
  return name == "list" ? &items_[1] : nullptr;
}

const List& Sequence::Iterate() const {
  static const List kEmpty;
  if (flavor_ != Flavor::kGenerator) return items_;
  return std::exchange(consumed_, true) ? kEmpty : items_;
}

Dict::Dict(std::vector<Entry> entries) {
  entries_.reserve(entries.size());
  Summary parts;
  const bool indexed = entries.size() >= kIndexFrom;
  const auto others =
      std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.first.is_string(); });
  if (others > kMaxOtherKeys)
    FailLimit(fmt::format("a dict has more than {} keys that are not strings", kMaxOtherKeys));
  for (Entry& entry : entries) {
    RequireHashable(entry.first);
    parts.Add(entry.first.summary());
    parts.Add(entry.second.summary());
    if (const std::optional<size_t> place = PlaceOf(entry.first)) {
      entries_[*place].second = std::move(entry.second);
      continue;
    }
    entries_.push_back(std::move(entry));
    if (indexed && entries_.back().first.is_string()) {
      strings_.emplace(entries_.back().first.as_text().bytes(), entries_.size() - 1);
    }
  }
  summary_ = parts.Enclose();
}

std::optional<size_t> Dict::PlaceOf(std::string_view key) const {
  if (!strings_.empty()) {
    const auto found = strings_.find(key);
    return found == strings_.end() ? std::nullopt : std::optional(found->second);
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Value& name = entries_[i].first;
    if (name.is_string() && name.as_text().bytes() == key) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Dict::PlaceOf(const Value& key) const {
  if (key.is_string()) return PlaceOf(key.as_text().bytes());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Value& name = entries_[i].first;
    if (!name.is_string() && Equals(name, key)) return i;
  }
  return std::nullopt;
}

const Value* Dict::Find(const Value& key) const {
  const std::optional<size_t> place = PlaceOf(key);
  return place ? &entries_[*place].second : nullptr;
}

const Value* Dict::Find(std::string_view key) const {
  const std::optional<size_t> place = PlaceOf(key);
  return place ? &entries_[*place].second : nullptr;
}

std::string TypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
      return "Undefined";
    case Value::Kind::kNone:
      return "NoneType";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
      return "int";
    case Value::Kind::kFloat:
      return "float";
    case Value::Kind::kString:
      return "str";
    case Value::Kind::kDict:
      return "dict";
    case Value::Kind::kSequence:
      return SequenceTypeName(value.as_sequence().flavor());
    case Value::Kind::kObject:
      break;
  }
  return value.as_object()->type_name();
}

bool IsTrue(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kUndefined:
    case Value::Kind::kNone:
      return false;
    case Value::Kind::kBool:
      return value.as_bool();
    case Value::Kind::kInt:
      return value.as_int() != 0;
    case Value::Kind::kFloat:
      return value.as_float() != 0;
    case Value::Kind::kString:
      return !value.as_text().empty();
    case Value::Kind::kDict:
      return !value.as_dict().entries().empty();
    case Value::Kind::kSequence:
      return !value.as_sequence().has_length() || !value.as_sequence().items().empty();
    case Value::Kind::kObject:
      break;
  }
  return true;
}

void RequireHashable(const Value& key) {
  if (key.is(Value::Kind::kSequence) && key.as_sequence().flavor() == Sequence::Flavor::kTuple) {
    if (key.summary().weight > kMaxKeyWeight) FailLimit("a tuple used as a key is too large");
    for (const Value& item : key.as_sequence().items()) RequireHashable(item);
  } else if (key.is_dict() || (key.is(Value::Kind::kSequence) && key.as_sequence().has_length())) {
    Fail(fmt::format("unhashable type: '{}'", TypeName(key)));
  }
}

}  // namespace headstart::jinja
