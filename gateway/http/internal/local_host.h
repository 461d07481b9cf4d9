// Names of this machine in the header Host.
//
// Thread-safety: free function.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_LOCAL_HOST_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_LOCAL_HOST_H_

#include <string_view>

namespace headstart {

// Whether `host`, which may end in a port, is localhost, a name below it, or a loopback address. None at all is: a
// browser always sends one.
bool IsLocalHost(std::string_view host);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_LOCAL_HOST_H_
