// What an HTTP request shows of itself to an Authenticator: its headers are what gRPC's metadata are.
//
// Thread-safety: a free function.
// Errors: the authenticator's.

#ifndef HEADSTART_GATEWAY_HTTP_HTTP_IDENTITY_H_
#define HEADSTART_GATEWAY_HTTP_HTTP_IDENTITY_H_

#include "absl/status/statusor.h"
#include "gateway/auth/authenticator.h"
#include "gateway/http/http_message.h"

namespace headstart {

inline absl::StatusOr<Caller> AuthenticateHttp(const Authenticator& authenticator, const HttpRequest& request) {
  CallIdentity identity;
  identity.metadata.reserve(request.headers.size());
  for (const auto& [name, value] : request.headers) identity.metadata.emplace_back(name, value);
  identity.peer = request.peer;
  const CertificateNames& certificate = request.certificate;
  for (const auto& uri : certificate.uris) identity.certificate_names.push_back({CertificateNameKind::kUri, uri});
  if (!certificate.common_name.empty()) {
    identity.certificate_names.push_back({CertificateNameKind::kCommonName, certificate.common_name});
  }
  return authenticator.Authenticate(identity);
}

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_HTTP_IDENTITY_H_
