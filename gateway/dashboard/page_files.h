// The files of the dashboard's page, part of the program. Views of static data.

#ifndef HEADSTART_GATEWAY_DASHBOARD_PAGE_FILES_H_
#define HEADSTART_GATEWAY_DASHBOARD_PAGE_FILES_H_

#include <string_view>

namespace headstart {

std::string_view DashboardHtml();
std::string_view DashboardScript();
std::string_view DashboardStyles();
std::string_view ChartScript();  // Chart.js, as Debian packages it

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DASHBOARD_PAGE_FILES_H_
