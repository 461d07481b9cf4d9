// The flags of who may call and how connections are protected.

#ifndef HEADSTART_GATEWAY_CONFIG_AUTH_FLAGS_H_
#define HEADSTART_GATEWAY_CONFIG_AUTH_FLAGS_H_

#include <string>

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "gateway/server/listen_address.h"
#include "gateway/tls/tls_files.h"

namespace headstart {

struct AuthFlags {
  std::string keys_file;  // empty: callers need no credential
  TlsFileNames tls;       // no certificate: connections are not encrypted
  bool insecure_plaintext = false;

  bool uses_keys() const { return !keys_file.empty(); }
  bool uses_tls() const { return !tls.certificate.empty(); }
};

// `flags` gives the defaults and takes the values; it outlives the parsing.
void AddAuthFlags(CLI::App& app, AuthFlags& flags);

// INVALID_ARGUMENT naming the flags that do not go together. To be asked once parsing is done.
absl::Status CheckAuthFlags(const AuthFlags& flags);

// FAILED_PRECONDITION when keys and prompts would go in the clear to an address that other machines can reach, and
// --insecure-plaintext does not accept that. `listen_flag` names the address' flag. Servers without keys are
// ServiceHost::CheckOptions' to refuse.
absl::Status CheckExposure(const AuthFlags& flags, const ListenAddress& address, const std::string& listen_flag);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_AUTH_FLAGS_H_
