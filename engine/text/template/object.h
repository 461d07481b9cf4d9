// Object: a value with behaviour of its own: macros, functions, bound methods, `loop`, namespaces.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_OBJECT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_OBJECT_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/text/template/arguments.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

class Object {
 public:
  // `nesting` is that of the values it owns.
  explicit Object(int nesting = 0) : nesting_(Summary{.nesting = nesting}.Enclose().nesting) {}
  virtual ~Object() = default;

  int nesting() const { return nesting_; }
  virtual std::string type_name() const = 0;
  virtual std::string Repr() const { return "<" + type_name() + ">"; }
  virtual bool is_callable() const { return false; }

  // The attribute, or nothing where there is none of that name.
  virtual std::optional<Value> Attribute(Context& context, std::string_view name);

  // Fails unless callable.
  virtual Value Call(Context& context, const Arguments& arguments);

 private:
  const int nesting_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_OBJECT_H_
