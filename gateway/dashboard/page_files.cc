#include "gateway/dashboard/page_files.h"

#include "gateway/files/embed.h"

HEADSTART_EMBED(dashboard_html, HEADSTART_DASHBOARD_PAGE "/index.html");
HEADSTART_EMBED(dashboard_script, HEADSTART_DASHBOARD_PAGE "/dashboard.js");
HEADSTART_EMBED(dashboard_styles, HEADSTART_DASHBOARD_PAGE "/dashboard.css");
HEADSTART_EMBED(dashboard_chart, HEADSTART_CHART_JS);

namespace headstart {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string_view DashboardHtml() { return TextOf(HEADSTART_EMBEDDED(dashboard_html)); }
std::string_view DashboardScript() { return TextOf(HEADSTART_EMBEDDED(dashboard_script)); }
std::string_view DashboardStyles() { return TextOf(HEADSTART_EMBEDDED(dashboard_styles)); }
std::string_view ChartScript() { return TextOf(HEADSTART_EMBEDDED(dashboard_chart)); }

}  // namespace headstart
