// CreatePrefixCall: one CreatePrefix call: encodes on a worker, lets the engine compute, answers from its thread. The
// prefix is registered also when the caller goes away meanwhile.

#ifndef HEADSTART_GATEWAY_SERVICES_CREATE_PREFIX_CALL_H_
#define HEADSTART_GATEWAY_SERVICES_CREATE_PREFIX_CALL_H_

#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "grpcpp/support/server_callback.h"
#include "headstart/v1/prefix.pb.h"

namespace headstart {

// REQUIRES: the request passed its checks. It and the response live until the call is done; context and encoder live as
// long as the engine works.
grpc::ServerUnaryReactor* StartCreatePrefix(const ServiceContext& context, const InputEncoder& encoder,
                                            const Caller& caller, const v1::CreatePrefixRequest& request,
                                            v1::CreatePrefixResponse& response);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CREATE_PREFIX_CALL_H_
