// The name under which a message travels inside google.protobuf.Any.

#ifndef HEADSTART_GATEWAY_ERRORS_TYPE_URL_H_
#define HEADSTART_GATEWAY_ERRORS_TYPE_URL_H_

#include <string>

namespace headstart {

template <typename Message>
std::string TypeUrl() {
  return "type.googleapis.com/" + Message::descriptor()->full_name();
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ERRORS_TYPE_URL_H_
