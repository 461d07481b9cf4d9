#include "gateway/dashboard/page_files.h"

#define HEADSTART_EMBED(symbol, file)                 \
  asm(".pushsection .rodata\n"                        \
      ".global headstart_" #symbol                    \
      "_begin\n"                                      \
      "headstart_" #symbol                            \
      "_begin:\n"                                     \
      ".incbin \"" file                               \
      "\"\n"                                          \
      ".global headstart_" #symbol                    \
      "_end\n"                                        \
      "headstart_" #symbol                            \
      "_end:\n"                                       \
      ".byte 0\n"                                     \
      ".popsection\n");                               \
  extern "C" const char headstart_##symbol##_begin[]; \
  extern "C" const char headstart_##symbol##_end[]

HEADSTART_EMBED(dashboard_html, HEADSTART_DASHBOARD_PAGE "/index.html");
HEADSTART_EMBED(dashboard_script, HEADSTART_DASHBOARD_PAGE "/dashboard.js");
HEADSTART_EMBED(dashboard_styles, HEADSTART_DASHBOARD_PAGE "/dashboard.css");
HEADSTART_EMBED(dashboard_chart, HEADSTART_CHART_JS);

#define HEADSTART_EMBEDDED(symbol) \
  std::string_view(headstart_##symbol##_begin, headstart_##symbol##_end - headstart_##symbol##_begin)

namespace headstart {

std::string_view DashboardHtml() { return HEADSTART_EMBEDDED(dashboard_html); }
std::string_view DashboardScript() { return HEADSTART_EMBEDDED(dashboard_script); }
std::string_view DashboardStyles() { return HEADSTART_EMBEDDED(dashboard_styles); }
std::string_view ChartScript() { return HEADSTART_EMBEDDED(dashboard_chart); }

}  // namespace headstart
