#include <openssl/x509v3.h>

#include <boost/asio/ssl/stream.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gateway/http/internal/transport.h"

namespace headstart {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<size_t>(ASN1_STRING_length(text))};
}

std::vector<std::string> Uris(const X509* certificate) {
  std::vector<std::string> uris;
  const Names names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
                    &GENERAL_NAMES_free);
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) uris.push_back(TextOf(name->d.uniformResourceIdentifier));
  }
  return uris;
}

std::string CommonName(const X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return index < 0 ? "" : TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
}

class TlsTransportImpl final : public Transport {
 public:
  TlsTransportImpl(StreamSocket socket, std::shared_ptr<boost::asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  void Handshake(std::function<void(boost::system::error_code)> done) override {
    stream_.async_handshake(boost::asio::ssl::stream_base::server, std::move(done));
  }
  void Read(boost::asio::mutable_buffer buffer, Done done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  void Write(boost::asio::const_buffer bytes, Done done) override { stream_.async_write_some(bytes, std::move(done)); }
  // A close_notify would have to wait for the reading that is under way. Every answer's end is told by its framing, but
  // for HTTP/1.0's streams.
  void EndOutput() override {
    boost::system::error_code ignored;
    stream_.next_layer().shutdown(StreamSocket::shutdown_send, ignored);
  }
  void Close() override {
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
  }
  CertificateNames PeerCertificate() const override {
    auto* ssl = const_cast<TlsTransportImpl*>(this)->stream_.native_handle();
    const Certificate certificate(SSL_get1_peer_certificate(ssl), &X509_free);
    if (certificate == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return {};
    return {.common_name = CommonName(certificate.get()), .uris = Uris(certificate.get())};
  }

 private:
  const std::shared_ptr<boost::asio::ssl::context> context_;
  boost::asio::ssl::stream<StreamSocket> stream_;
};

}  // namespace

std::unique_ptr<Transport> TlsTransport(StreamSocket socket, std::shared_ptr<boost::asio::ssl::context> context) {
  return std::make_unique<TlsTransportImpl>(std::move(socket), std::move(context));
}

}  // namespace headstart
