#include "gateway/tls/tls_server_credentials.h"

#include <string>
#include <utility>
#include <vector>

#include "grpc/grpc.h"
#include "grpc/grpc_security.h"

namespace headstart {
namespace {

grpc_ssl_server_certificate_config* ToConfig(const TlsMaterial& material) {
  const grpc_ssl_pem_key_cert_pair pair{material.private_key_pem.c_str(), material.certificate_chain_pem.c_str()};
  // gRPC wants authorities also where no client is asked for a certificate; any will do, since then none is verified.
  const std::string& client_ca =
      material.client_ca_pem.empty() ? material.certificate_chain_pem : material.client_ca_pem;
  return grpc_ssl_server_certificate_config_create(client_ca.c_str(), &pair, 1);
}

grpc_ssl_client_certificate_request_type RequestOf(const TlsMaterial& material) {
  if (material.client_ca_pem.empty()) return GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  return material.require_client_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
}

// What one port was given last. gRPC asks for one port at a time, under a lock of its own.
class Fetcher {
 public:
  explicit Fetcher(const TlsSource& source) : source_(source) {}

  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config** config) {
    auto material = source_();
    if (material == given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    *config = ToConfig(*material);
    given_ = std::move(material);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

 private:
  const TlsSource& source_;
  std::shared_ptr<const TlsMaterial> given_;
};

grpc_ssl_certificate_config_reload_status Fetch(void* fetcher, grpc_ssl_server_certificate_config** config) {
  return static_cast<Fetcher*>(fetcher)->Fetch(config);
}

class TlsServerCredentialsImpl final : public grpc::ServerCredentials {
 public:
  explicit TlsServerCredentialsImpl(TlsSource source) : source_(std::move(source)) {}

  // Callers are known by their keys and certificates: see Authenticator.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    fetchers_.push_back(std::make_unique<Fetcher>(source_));
    grpc_server_credentials* credentials =
        grpc_ssl_server_credentials_create_with_options(grpc_ssl_server_credentials_create_options_using_config_fetcher(
            RequestOf(*source_()), &Fetch, fetchers_.back().get()));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  const TlsSource source_;
  std::vector<std::unique_ptr<Fetcher>> fetchers_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsServerCredentials(TlsSource source) {
  return std::make_shared<TlsServerCredentialsImpl>(std::move(source));
}

}  // namespace headstart
