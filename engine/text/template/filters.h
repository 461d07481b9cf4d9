// Jinja's filters.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_FILTERS_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_FILTERS_H_

#include <span>
#include <string_view>

#include "engine/text/template/arguments.h"
#include "engine/text/template/value.h"

namespace headstart::jinja {

class Context;

using Filter = Value (*)(Context& context, const Value& input, const Arguments& arguments);

// Null where there is none of that name.
Filter FindFilter(std::string_view name);

struct NamedFilter {
  std::string_view name;
  Filter filter;
};

// The filters of each kind, for FindFilter.
std::span<const NamedFilter> TextFilters();
std::span<const NamedFilter> LayoutFilters();
std::span<const NamedFilter> HtmlFilters();
std::span<const NamedFilter> NumberFilters();
std::span<const NamedFilter> SequenceFilters();
std::span<const NamedFilter> OrderingFilters();
std::span<const NamedFilter> MappingFilters();

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_FILTERS_H_
