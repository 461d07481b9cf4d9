#include "engine/text/template/namespace.h"

namespace headstart::jinja {

void Namespace::Set(std::string_view name, Value value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

std::optional<Value> Namespace::Attribute(Context&, std::string_view name) {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace headstart::jinja
