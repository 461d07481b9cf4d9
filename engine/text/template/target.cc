#include "engine/text/template/target.h"

#include "engine/text/template/context.h"
#include "engine/text/template/namespace.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/template_error.h"
#include "fmt/format.h"

namespace headstart::jinja {

void Target::Assign(Context& context, const Value& value) const {
  if (!parts.empty()) return Unpack(context, value);
  if (attribute.empty()) return context.Set(name, value);
  const Value* found = context.Find(name);
  if (found == nullptr) Fail(fmt::format("'{}' is undefined", name));
  Namespace* target = found->object_as<Namespace>();
  if (target == nullptr) Fail("cannot assign attribute on non-namespace object");
  target->Set(attribute, value);
}

void Target::Unpack(Context& context, const Value& value) const {
  const List items = Iterate(context, value);
  if (items.size() < parts.size()) {
    Fail(fmt::format("not enough values to unpack (expected {}, got {})", parts.size(), items.size()));
  }
  if (items.size() > parts.size()) Fail(fmt::format("too many values to unpack (expected {})", parts.size()));
  for (size_t i = 0; i < parts.size(); ++i) parts[i].Assign(context, items[i]);
}

}  // namespace headstart::jinja
