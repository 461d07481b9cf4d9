#include "gateway/config/auth_flags.h"

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/config/flags.h"

namespace headstart {

void AddAuthFlags(CLI::App& app, AuthFlags& flags) {
  app.add_option("--keys", flags.keys_file,
                 "File of API keys, read anew when it changes; without one, callers need none. See `headstart key`");
  app.add_option("--tls-cert", flags.tls.certificate,
                 "Certificate chain, a PEM file, read anew when it changes; with --tls-key");
  app.add_option("--tls-key", flags.tls.private_key, "The certificate's key, a PEM file without a passphrase");
  app.add_option("--tls-client-ca", flags.tls.client_ca,
                 "Authorities of client certificates, a PEM file: clients that show one are verified");
  app.add_flag("--tls-require-client-cert", flags.tls.require_client_certificate,
               "Take no client without a certificate of --tls-client-ca");
  app.add_flag("--insecure-plaintext", flags.insecure_plaintext,
               "Listen where other machines can call, though keys and prompts are not encrypted. Only behind something "
               "that encrypts");
}

absl::Status CheckAuthFlags(const AuthFlags& flags) {
  if (flags.tls.certificate.empty() != flags.tls.private_key.empty()) {
    return absl::InvalidArgumentError(fmt::format("{} is given without {}; a server needs a certificate and its key",
                                                  flags.uses_tls() ? "--tls-cert" : "--tls-key",
                                                  flags.uses_tls() ? "--tls-key" : "--tls-cert"));
  }
  if (!flags.tls.client_ca.empty() && !flags.uses_tls()) {
    return absl::InvalidArgumentError("--tls-client-ca is given without --tls-cert; client certificates need TLS");
  }
  if (flags.tls.require_client_certificate && flags.tls.client_ca.empty()) {
    return absl::InvalidArgumentError(
        "--tls-require-client-cert is given without --tls-client-ca; say whose certificates are taken");
  }
  return absl::OkStatus();
}

absl::Status CheckExposure(const AuthFlags& flags, const ListenAddress& address, const std::string& listen_flag) {
  if (!flags.uses_keys() || flags.uses_tls() || flags.insecure_plaintext || address.IsLoopback()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(fmt::format(
      "{} {} can be reached by other machines, and keys and prompts would go there in the clear: whoever "
      "sees the network has them. Give --tls-cert and --tls-key, or, behind something that encrypts, accept "
      "that with --insecure-plaintext",
      listen_flag, address.ToString()));
}

}  // namespace headstart
