// TlsMaterial: what a server proves its identity with, and whose clients it takes, as PEM texts: what the files said
// when they were last read, so that certificates can be replaced while the server runs.
//
// Thread-safety: a plain value.

#ifndef HEADSTART_GATEWAY_TLS_TLS_MATERIAL_H_
#define HEADSTART_GATEWAY_TLS_TLS_MATERIAL_H_

#include <functional>
#include <memory>
#include <string>

namespace headstart {

struct TlsMaterial {
  std::string certificate_chain_pem = {};  // the server's own certificate first
  std::string private_key_pem = {};        // of that certificate; without a passphrase
  std::string client_ca_pem = {};          // whose clients are believed; empty: clients are not asked for a certificate
  bool require_client_certificate = false;  // refuse those without one. REQUIRES: client_ca_pem

  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

// What to serve with, asked for at every new connection, so that certificates can be replaced while a server runs.
// Never null; the material passes CheckTlsMaterial (tls_files.h). From any thread.
using TlsSource = std::function<std::shared_ptr<const TlsMaterial>()>;

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TLS_TLS_MATERIAL_H_
