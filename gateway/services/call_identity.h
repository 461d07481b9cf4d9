// What a gRPC call shows of itself to an Authenticator.

#ifndef HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_
#define HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_

#include "gateway/auth/authenticator.h"
#include "grpcpp/server_context.h"

namespace headstart {

// The views are valid while the call lives.
inline CallIdentity IdentityOf(const grpc::CallbackServerContext& call) {
  CallIdentity identity;
  for (const auto& [key, value] : call.client_metadata()) {
    identity.metadata.emplace_back(std::string_view(key.data(), key.size()),
                                   std::string_view(value.data(), value.size()));
  }
  identity.peer = call.peer();
  return identity;
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_
