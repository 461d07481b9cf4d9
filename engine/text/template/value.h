// Value: what a template computes with. Values are Python's as a sandbox shows them: nothing but a namespace ever
// changes after it was made, so copies share.
//
// Thread-safety: as for const data; a namespace and a generator belong to one rendering.
// Invariant: containers nest at most kMaxNesting deep, so that walking and destroying them cannot run out of stack.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_VALUE_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_VALUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/text/template/text.h"

namespace headstart::jinja {

class Value;
class Sequence;
class Dict;
class Object;
using List = std::vector<Value>;

// Wide enough for every integer JSON can carry; arithmetic that leaves it is refused.
__extension__ using Int = __int128;

inline constexpr int kMaxNesting = 256;  // deeper than any tool schema, shallow enough for any stack

// What a value is made of all in all, known when it is made: values share their parts, so that walking one may take
// exponentially longer than making it did.
struct Summary {
  int nesting = 0;
  int64_t weight = 1;  // about the steps that looking at all of it takes; saturates
  bool has_caller_bytes = false;

  void Add(const Summary& part);

  // Of a container of what was added. Fails beyond kMaxNesting.
  Summary Enclose() const;
};

struct None {
  friend bool operator==(None, None) { return true; }
};

// A name, attribute or element that is not there. `message` is what using it says.
struct Undefined {
  std::shared_ptr<const std::string> message;
};

class Value {
 public:
  enum class Kind { kUndefined, kNone, kBool, kInt, kFloat, kString, kSequence, kDict, kObject };

  Value() : data_(None{}) {}
  static Value MakeUndefined(std::string message);
  static Value MakeList(List items);
  static Value MakeTuple(List items);
  static Value MakeString(std::string_view bytes) { return Value(Text(bytes)); }
  explicit Value(bool value) : data_(value) {}
  explicit Value(Int value) : data_(value) {}
  explicit Value(double value) : data_(value) {}
  explicit Value(Text value) : data_(std::move(value)) {}
  explicit Value(std::shared_ptr<const Sequence> value) : data_(std::move(value)) {}
  explicit Value(std::shared_ptr<const Dict> value) : data_(std::move(value)) {}
  explicit Value(std::shared_ptr<Object> value) : data_(std::move(value)) {}

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind k) const { return kind() == k; }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_bool() const { return is(Kind::kBool); }
  bool is_string() const { return is(Kind::kString); }
  bool is_dict() const { return is(Kind::kDict); }
  bool is_integral() const { return is(Kind::kInt) || is(Kind::kBool); }  // as Python's isinstance(x, int)
  bool is_number() const { return is_integral() || is(Kind::kFloat); }

  // REQUIRES: the kind named.
  bool as_bool() const { return std::get<bool>(data_); }
  Int as_int() const { return is_bool() ? Int{as_bool()} : std::get<Int>(data_); }  // or a bool
  double as_float() const { return is(Kind::kFloat) ? std::get<double>(data_) : static_cast<double>(as_int()); }
  const Text& as_text() const { return std::get<Text>(data_); }
  const Sequence& as_sequence() const { return *std::get<std::shared_ptr<const Sequence>>(data_); }
  const Dict& as_dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  const std::shared_ptr<Object>& as_object() const { return std::get<std::shared_ptr<Object>>(data_); }
  const std::string& undefined_message() const { return *std::get<Undefined>(data_).message; }

  // The object as a T, or null.
  template <typename T>
  T* object_as() const {
    return is(Kind::kObject) ? dynamic_cast<T*>(as_object().get()) : nullptr;
  }

  // Python's `is`.
  bool SameAs(const Value& other) const;
  Summary summary() const;

 private:
  std::variant<Undefined, None, bool, Int, double, Text, std::shared_ptr<const Sequence>, std::shared_ptr<const Dict>,
               std::shared_ptr<Object>>
      data_;
};

// Lists and what Python has beside them. The flavour decides how one prints, compares and indexes.
class Sequence {
 public:
  // The label of the pairs that groupby makes, whose parts are also called `grouper` and `list`.
  static constexpr std::string_view kGroupLabel = "group";

  enum class Flavor { kList, kTuple, kRange, kKeysView, kValuesView, kItemsView, kGenerator };

  Sequence(Flavor flavor, List items, std::string label = "");

  Flavor flavor() const { return flavor_; }
  const std::string& label() const { return label_; }  // how a range prints, or kGroupLabel
  bool is_view() const { return flavor_ >= Flavor::kKeysView && flavor_ <= Flavor::kItemsView; }
  bool has_length() const { return flavor_ != Flavor::kGenerator; }
  bool has_index() const { return flavor_ <= Flavor::kRange; }
  const Summary& summary() const { return summary_; }

  // A part of a named tuple; null where there is none of that name.
  const Value* FindPart(std::string_view name) const;

  // The items, for a look that is not an iteration. REQUIRES: not a generator.
  const List& items() const { return items_; }

  // The items, for iterating: a generator has them once.
  const List& Iterate() const;

 private:
  Flavor flavor_;
  List items_;
  std::string label_;
  Summary summary_;
  mutable bool consumed_ = false;
};

// An ordered dict. Keys are strings, numbers, booleans, none or tuples of them.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  // A later entry with the same key replaces the value of the earlier one.
  explicit Dict(std::vector<Entry> entries);

  const std::vector<Entry>& entries() const { return entries_; }
  const Value* Find(const Value& key) const;
  const Value* Find(std::string_view key) const;
  const Summary& summary() const { return summary_; }

 private:
  // Below this many entries looking at each is faster than hashing.
  static constexpr size_t kIndexFrom = 9;

  std::optional<size_t> PlaceOf(const Value& key) const;
  std::optional<size_t> PlaceOf(std::string_view key) const;

  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, size_t> strings_;  // positions of string keys, if there are kIndexFrom entries
  Summary summary_;
};

// The type as Python's messages name it: "dict", "str", "NoneType", ...
std::string TypeName(const Value& value);

bool IsTrue(const Value& value);

// Fails as Python's hash() does for lists and dicts.
void RequireHashable(const Value& key);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_VALUE_H_
