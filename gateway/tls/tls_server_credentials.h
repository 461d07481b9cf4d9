// TlsServerCredentials: gRPC server credentials that ask for the TLS material at every handshake, so that a connection
// is made with what is right then. Connections that stand are not touched.
//
// Thread-safety: as grpc::ServerCredentials; `source` is called from gRPC's threads.
// Ownership: keep the credentials until the server that listens with them is gone.

#ifndef HEADSTART_GATEWAY_TLS_TLS_SERVER_CREDENTIALS_H_
#define HEADSTART_GATEWAY_TLS_TLS_SERVER_CREDENTIALS_H_

#include <memory>

#include "gateway/tls/tls_material.h"
#include "grpcpp/security/server_credentials.h"

namespace headstart {

// Whether clients are asked for certificates, and must have one, is decided once, by the material of now. Those that
// they show are always verified.
std::shared_ptr<grpc::ServerCredentials> TlsServerCredentials(TlsSource source);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TLS_TLS_SERVER_CREDENTIALS_H_
