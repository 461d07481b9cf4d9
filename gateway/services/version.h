// The program's version, as in the build.

#ifndef HEADSTART_GATEWAY_SERVICES_VERSION_H_
#define HEADSTART_GATEWAY_SERVICES_VERSION_H_

#include <string_view>

namespace headstart {

std::string_view Version();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_VERSION_H_
