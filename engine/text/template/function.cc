#include "engine/text/template/function.h"

#include "fmt/format.h"

namespace headstart::jinja {
namespace {

class PlainFunction : public Object {
 public:
  PlainFunction(std::string_view name, Function function) : name_(name), function_(function) {}

  std::string type_name() const override { return "function"; }
  std::string Repr() const override { return fmt::format("<function {}>", name_); }
  bool is_callable() const override { return true; }
  Value Call(Context& context, const Arguments& arguments) override { return function_(context, arguments); }

 private:
  const std::string_view name_;
  const Function function_;
};

class BoundMethod : public Object {
 public:
  BoundMethod(std::string_view name, Method method, Value self)
      : Object(self.summary().nesting), name_(name), method_(method), self_(std::move(self)) {}

  std::string type_name() const override { return "builtin_function_or_method"; }
  std::string Repr() const override { return fmt::format("<built-in method {}>", name_); }
  bool is_callable() const override { return true; }
  Value Call(Context& context, const Arguments& arguments) override { return method_(context, self_, arguments); }

 private:
  const std::string_view name_;
  const Method method_;
  const Value self_;
};

}  // namespace

Value MakeFunction(std::string_view name, Function function) {
  return Value(std::shared_ptr<Object>(std::make_shared<PlainFunction>(name, function)));
}

Value MakeMethod(std::string_view name, Method method, Value self) {
  return Value(std::shared_ptr<Object>(std::make_shared<BoundMethod>(name, method, std::move(self))));
}

}  // namespace headstart::jinja
