// CallObserver: hears of every gRPC call that is answered, refused ones included.
//
// Thread-safety: called from gRPC's threads, several at a time; must return at once.
// Ownership: outlives the server.

#ifndef HEADSTART_GATEWAY_SERVER_CALL_OBSERVER_H_
#define HEADSTART_GATEWAY_SERVER_CALL_OBSERVER_H_

#include <memory>
#include <string_view>

#include "grpcpp/support/server_interceptor.h"
#include "grpcpp/support/status_code_enum.h"

namespace headstart {

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // `method` is one that this program knows, such as "headstart.v1.InferenceService/Generate".
  virtual void OnCallAnswered(std::string_view method, grpc::StatusCode code) = 0;
};

// An interceptor that tells `observer` the status as the client gets it, when it is the last of all. Of methods that
// this program does not know it says nothing: callers can make up any number of them.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> ObserveCalls(CallObserver& observer);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_CALL_OBSERVER_H_
