// What a caller hears whose request cannot be parsed. gRPC drops such a call before its service hears of it, and
// answers UNIMPLEMENTED without a word; this turns that into INVALID_ARGUMENT with a sentence and the reason
// MALFORMED_REQUEST.
//
// Thread-safety: the factory may be used by any thread, as gRPC does.
// REQUIRES: every method of the server's services is implemented, or says in words that it is not.

#ifndef HEADSTART_GATEWAY_SERVER_MALFORMED_REQUESTS_H_
#define HEADSTART_GATEWAY_SERVER_MALFORMED_REQUESTS_H_

#include <memory>

#include "grpcpp/support/server_interceptor.h"

namespace headstart {

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> ExplainMalformedRequests();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_MALFORMED_REQUESTS_H_
