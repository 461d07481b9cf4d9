#include "engine/text/template/globals.h"

#include "engine/text/template/function.h"
#include "engine/text/template/namespace.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/strftime.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

constexpr Int kMaxRange = 100'000;  // that of Jinja's sandbox

Int CountOf(Int start, Int stop, Int step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const Int span = step > 0 ? stop - start : start - stop;
  const Int size = step > 0 ? step : -step;
  return (span - 1) / size + 1;
}

Int RangeBound(const Value& value) {
  if (!value.is_integral()) Fail(fmt::format("'{}' object cannot be interpreted as an integer", TypeName(value)));
  constexpr Int kHuge = Int{1} << 100;  // so that differences of bounds do not overflow
  if (value.as_int() > kHuge || value.as_int() < -kHuge) FailLimit("range bounds are too large");
  return value.as_int();
}

Value Range(Context& context, const Arguments& arguments) {
  const List& given = arguments.positional;
  if (given.empty() || given.size() > 3 || !arguments.named.empty()) Fail("range expected 1 to 3 arguments");
  const Int start = given.size() > 1 ? RangeBound(given[0]) : 0;
  const Int stop = RangeBound(given[given.size() > 1 ? 1 : 0]);
  const Int step = given.size() > 2 ? RangeBound(given[2]) : 1;
  if (step == 0) Fail("range() arg 3 must not be zero");
  const Int count = CountOf(start, stop, step);
  if (count > kMaxRange) FailLimit(fmt::format("a range is longer than the limit of {} numbers", kMaxRange));
  context.ChargeItems(static_cast<size_t>(count));
  List items;
  for (Int i = 0; i < count; ++i) items.emplace_back(start + i * step);
  std::string label = fmt::format("range({}, {}", start, stop);
  label += step == 1 ? ")" : fmt::format(", {})", step);
  return Value(std::make_shared<const Sequence>(Sequence::Flavor::kRange, std::move(items), std::move(label)));
}

// The entries of what dict() and namespace() take: a mapping or pairs, and keywords.
std::vector<Dict::Entry> EntriesOf(Context& context, std::string_view function, const Arguments& arguments) {
  std::vector<Dict::Entry> entries;
  if (arguments.positional.size() > 1) Fail(fmt::format("{} expected at most 1 argument", function));
  if (!arguments.positional.empty() && arguments.positional[0].is_dict()) {
    entries = arguments.positional[0].as_dict().entries();
  } else if (!arguments.positional.empty()) {
    for (const Value& item : Iterate(context, arguments.positional[0])) {
      List pair = Iterate(context, item);
      if (pair.size() != 2)
        Fail(fmt::format("{} update sequence element has length {}; 2 is required", function, pair.size()));
      entries.emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
  }
  for (const auto& [name, value] : arguments.named) entries.emplace_back(Value::MakeString(name), value);
  return entries;
}

Value MakeDictFunction(Context& context, const Arguments& arguments) {
  return Value(MakeDict(context, EntriesOf(context, "dict", arguments)));
}

Value MakeNamespace(Context& context, const Arguments& arguments) {
  Value value = context.Own<Namespace>();
  for (const auto& [name, entry] : EntriesOf(context, "namespace", arguments)) {
    context.ChargeItems(2);
    value.object_as<Namespace>()->Set(ToText(name).bytes(), entry);
  }
  return value;
}

Value RaiseException(Context& context, const Arguments& arguments) {
  const auto bound = Bind(arguments, "raise_exception", {"message"});
  throw TemplateError(absl::StatusCode::kFailedPrecondition, std::string(ToText(context, bound.Require(0)).bytes()));
}

Value StrftimeNow(Context& context, const Arguments& arguments) {
  const auto bound = Bind(arguments, "strftime_now", {"format"});
  if (!bound.Require(0).is_string()) Fail("strftime() argument 1 must be str");
  const Text& format = bound.Require(0).as_text();
  constexpr size_t kLongestDirective = 32;  // of "%c", which has two characters
  context.ChargeBytes(format.size() * kLongestDirective);
  return Value(Text(Strftime(format.bytes(), context.now()), format.origin()));
}

// cycler('a', 'b'): next() gives them in turn.
class Cycler : public Object {
 public:
  explicit Cycler(List items) : items_(std::move(items)) {}

  std::string type_name() const override { return "jinja2.utils.Cycler"; }
  std::optional<Value> Attribute(Context& context, std::string_view name) override;
  Value Next() {
    Value current = items_[at_];
    at_ = (at_ + 1) % items_.size();
    return current;
  }
  void Reset() { at_ = 0; }

 private:
  const List items_;
  size_t at_ = 0;
};

Value CyclerNext(Context&, const Value& self, const Arguments&) { return self.object_as<Cycler>()->Next(); }

Value CyclerReset(Context&, const Value& self, const Arguments&) {
  self.object_as<Cycler>()->Reset();
  return Value();
}

std::optional<Value> Cycler::Attribute(Context&, std::string_view name) {
  const Value self(std::shared_ptr<Object>(std::shared_ptr<void>(), this));  // the context owns it
  if (name == "next") return MakeMethod("next", CyclerNext, self);
  if (name == "reset") return MakeMethod("reset", CyclerReset, self);
  if (name == "current") return items_[at_];
  return std::nullopt;
}

Value MakeCycler(Context& context, const Arguments& arguments) {
  if (arguments.positional.empty()) Fail("at least one item has to be provided");
  return context.Own<Cycler>(arguments.positional);
}

// joiner(', '): nothing when first called, then the separator.
class Joiner : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}

  std::string type_name() const override { return "jinja2.utils.Joiner"; }
  bool is_callable() const override { return true; }
  Value Call(Context&, const Arguments&) override { return std::exchange(used_, true) ? separator_ : Value(Text()); }

 private:
  const Value separator_;
  bool used_ = false;
};

Value MakeJoiner(Context& context, const Arguments& arguments) {
  return context.Own<Joiner>(Bind(arguments, "joiner", {"sep"}).Get(0, Value::MakeString(", ")));
}

struct NamedFunction {
  std::string_view name;
  Function function;
};

constexpr NamedFunction kFunctions[] = {{"range", Range},
                                        {"dict", MakeDictFunction},
                                        {"namespace", MakeNamespace},
                                        {"raise_exception", RaiseException},
                                        {"strftime_now", StrftimeNow},
                                        {"cycler", MakeCycler},
                                        {"joiner", MakeJoiner}};

}  // namespace

void SetGlobals(Context& context) {
  for (const auto& [name, function] : kFunctions) context.Set(name, MakeFunction(name, function));
}

}  // namespace headstart::jinja
