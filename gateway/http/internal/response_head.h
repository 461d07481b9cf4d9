// The first lines of an answer on the wire.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_RESPONSE_HEAD_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_RESPONSE_HEAD_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gateway/http/http_message.h"

namespace headstart {

struct ResponseFraming {
  std::optional<size_t> content_length;  // none: of a stream
  bool chunked = false;                  // of a stream; otherwise it ends with the connection
  bool keep_alive = true;
};

// Status line and headers, the empty line included. Header values lose line breaks: no value of a handler's can begin a
// header of its own. HTML gets headers that keep it from being framed and from loading what is not this server's,
// unless the handler wrote such a policy itself.
std::string ResponseHead(const HttpResponse& response, const ResponseFraming& framing, absl::Time now,
                         const std::string& cors_origin);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_RESPONSE_HEAD_H_
