// The `attribute` argument of filters such as map, sort and join: "function.name", or an index.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_ATTRIBUTE_PATH_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_ATTRIBUTE_PATH_H_

#include <optional>
#include <vector>

#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

class AttributePath {
 public:
  // `attribute` is a string of parts with dots between them, an integer, or none for the item itself. What is missing
  // on the way is `otherwise`, where given.
  explicit AttributePath(const Value& attribute, std::optional<Value> otherwise = std::nullopt);

  // The paths of "a,b.c".
  static std::vector<AttributePath> Several(const Value& attribute);

  Value Get(Context& context, Value item) const;

 private:
  std::vector<Value> parts_;
  std::optional<Value> otherwise_;
};

// Lower case for a string, for filters that compare without regard to case.
Value IgnoreCase(Context& context, const Value& value);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_ATTRIBUTE_PATH_H_
