// What a gRPC call shows of itself to an Authenticator.

#ifndef HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_
#define HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_

#include "gateway/auth/authenticator.h"
#include "grpc/grpc_security_constants.h"
#include "grpcpp/server_context.h"

namespace headstart {

// The names in the caller's certificate. There is one only when the server's TLS asked for it and verified it: see
// TlsServerCredentials.
inline std::vector<CertificateName> CertificateNamesOf(const grpc::ServerContextBase& call) {
  std::vector<CertificateName> names;
  const auto transport = call.auth_context();
  if (transport == nullptr) return names;
  const auto add = [&](const char* property, CertificateNameKind kind) {
    for (const auto& value : transport->FindPropertyValues(property)) {
      names.push_back({.kind = kind, .value = std::string(value.data(), value.size())});
    }
  };
  add(GRPC_PEER_URI_PROPERTY_NAME, CertificateNameKind::kUri);
  add(GRPC_X509_CN_PROPERTY_NAME, CertificateNameKind::kCommonName);
  return names;
}

// The views are valid while the call lives.
inline CallIdentity IdentityOf(const grpc::CallbackServerContext& call) {
  CallIdentity identity;
  for (const auto& [key, value] : call.client_metadata()) {
    identity.metadata.emplace_back(std::string_view(key.data(), key.size()),
                                   std::string_view(value.data(), value.size()));
  }
  identity.peer = call.peer();
  identity.certificate_names = CertificateNamesOf(call);
  return identity;
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CALL_IDENTITY_H_
