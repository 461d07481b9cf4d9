// CountTokensCall: one CountTokens call: encodes on a worker, asks the engine, answers from the engine's thread.
//
// Ownership: deletes itself when gRPC is done with it.

#ifndef HEADSTART_GATEWAY_SERVICES_COUNT_TOKENS_CALL_H_
#define HEADSTART_GATEWAY_SERVICES_COUNT_TOKENS_CALL_H_

#include <vector>

#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"
#include "grpcpp/support/server_callback.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

class CountTokensCall final : public grpc::ServerUnaryReactor {
 public:
  // REQUIRES: the request passed its checks. It and the response live until OnDone.
  static grpc::ServerUnaryReactor* Start(const ServiceContext& context, const InputEncoder& encoder,
                                         const Caller& caller, const v1::CountTokensRequest& request,
                                         v1::CountTokensResponse& response);

  void OnDone() override { delete this; }

 private:
  CountTokensCall(const ServiceContext& context, const InputEncoder& encoder, const Caller& caller,
                  const v1::CountTokensRequest& request, v1::CountTokensResponse& response);
  void Count();
  void Answer(const Match& match, int64_t tokens);

  const ServiceContext& context_;
  const InputEncoder& encoder_;
  const Caller caller_;
  const v1::CountTokensRequest& request_;
  v1::CountTokensResponse& response_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_COUNT_TOKENS_CALL_H_
