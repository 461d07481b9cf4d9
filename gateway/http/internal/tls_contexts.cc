#include "gateway/http/internal/tls_contexts.h"

#include <utility>

#include "fmt/format.h"

namespace headstart {
namespace {

namespace ssl = boost::asio::ssl;

absl::Status Refused(std::string_view what, const boost::system::error_code& error) {
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("the {} cannot be used for TLS: {}", what, error.message()));
}

// HTTP/1.1 alone: a client that offers h2 as well is told so.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes, const unsigned char* offered,
                   unsigned int offered_bytes, void*) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* match = nullptr;
  const int found = SSL_select_next_proto(&match, chosen_bytes, kOurs, sizeof(kOurs), offered, offered_bytes);
  *chosen = match;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

absl::Status TakeClientCa(const TlsMaterial& material, ssl::context& context) {
  if (material.client_ca_pem.empty()) {
    if (!material.require_client_certificate) return absl::OkStatus();
    return absl::InvalidArgumentError("client certificates are required, but there is no CA to check them against");
  }
  boost::system::error_code error;
  context.add_certificate_authority(boost::asio::buffer(material.client_ca_pem), error);
  if (auto status = Refused("CA of clients", error); !status.ok()) return status;
  const int mode =
      material.require_client_certificate ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert : ssl::verify_peer;
  context.set_verify_mode(mode, error);
  return Refused("CA of clients", error);
}

}  // namespace

absl::StatusOr<std::shared_ptr<ssl::context>> MakeTlsContext(const TlsMaterial& material) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), &ChooseProtocol, nullptr);
  // A name for resumed sessions, without which those of clients with certificates are refused.
  static constexpr unsigned char kSessions[] = "headstart";
  SSL_CTX_set_session_id_context(context->native_handle(), kSessions, sizeof(kSessions) - 1);
  boost::system::error_code error;
  context->use_certificate_chain(boost::asio::buffer(material.certificate_chain_pem), error);
  if (auto status = Refused("certificate", error); !status.ok()) return status;
  context->use_private_key(boost::asio::buffer(material.private_key_pem), ssl::context::pem, error);
  if (auto status = Refused("private key", error); !status.ok()) return status;
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return absl::InvalidArgumentError("the private key is not that of the certificate");
  }
  if (auto status = TakeClientCa(material, *context); !status.ok()) return status;
  return context;
}

absl::StatusOr<std::shared_ptr<ssl::context>> TlsContexts::Current() {
  auto material = source_();
  MutexLock lock(mutex_);
  if (material == material_) return context_;
  auto context = MakeTlsContext(*material);
  if (!context.ok() && context_ == nullptr) return context.status();
  material_ = std::move(material);
  if (context.ok()) {
    context_ = *std::move(context);
  } else if (on_event_) {
    on_event_(fmt::format("{}; what was in use before stays", std::string(context.status().message())));
  }
  return context_;
}

}  // namespace headstart
