// What an assignment assigns to: a name, an attribute of a namespace, or several of them at once.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_TARGET_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_TARGET_H_

#include <string>
#include <vector>

#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

struct Target {
  std::string name;
  std::string attribute;      // of the namespace `name`; empty for a plain name
  std::vector<Target> parts;  // where not empty, the value is unpacked into these

  void Assign(Context& context, const Value& value) const;

 private:
  void Unpack(Context& context, const Value& value) const;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_TARGET_H_
