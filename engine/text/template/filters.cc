#include "engine/text/template/filters.h"

#include <algorithm>

namespace headstart::jinja {

Filter FindFilter(std::string_view name) {
  for (const auto& filters : {TextFilters(), LayoutFilters(), HtmlFilters(), NumberFilters(), SequenceFilters(),
                              OrderingFilters(), MappingFilters()}) {
    const auto found =
        std::find_if(filters.begin(), filters.end(), [&](const NamedFilter& f) { return f.name == name; });
    if (found != filters.end()) return found->filter;
  }
  return nullptr;
}

}  // namespace headstart::jinja
