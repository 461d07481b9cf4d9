// namespace(): the one value that a template may change, through `set ns.name = value`.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_NAMESPACE_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_NAMESPACE_H_

#include <map>
#include <string>

#include "engine/text/template/object.h"

namespace headstart::jinja {

class Namespace : public Object {
 public:
  void Set(std::string_view name, Value value);

  std::string type_name() const override { return "jinja2.utils.Namespace"; }
  std::optional<Value> Attribute(Context& context, std::string_view name) override;

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_NAMESPACE_H_
