// Authenticator: decides who a caller is. It is the only source of a request's tenant and of the caller's role: nothing
// that a request's body says, and no metadata that the authenticator does not read, can change the scope that a prompt
// is looked up in.
//
// Thread-safety: Authenticate may be called from any thread, and returns at once.
// Errors: UNAUTHENTICATED when the credential is missing or wrong, with the reason CREDENTIAL_MISSING,
// CREDENTIAL_INVALID or CREDENTIAL_EXPIRED. The message does not repeat the credential.

#ifndef HEADSTART_GATEWAY_AUTH_AUTHENTICATOR_H_
#define HEADSTART_GATEWAY_AUTH_AUTHENTICATOR_H_

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace headstart {

enum class CertificateNameKind { kCommonName, kUri };

// A name that a client's certificate gives its holder: the subject's common name, or a URI among its alternative names.
struct CertificateName {
  CertificateNameKind kind = CertificateNameKind::kCommonName;
  std::string value;
  friend auto operator<=>(const CertificateName&, const CertificateName&) = default;
};

// What a call shows of itself, whichever protocol it came by. Views into the call.
struct CallIdentity {
  std::vector<std::pair<std::string_view, std::string_view>> metadata;  // keys in lower case
  std::string peer;                                                     // such as "ipv4:127.0.0.1:51234"
  // Of a client certificate that TLS has verified against the server's client CA; empty without one.
  std::vector<CertificateName> certificate_names = {};
};

enum class Role {
  kTenant,    // its own prompts and prefixes
  kOperator,  // besides: what concerns every tenant, such as public prefixes, and running the server
};

// An authenticated caller.
struct Caller {
  std::string tenant;
  Role role = Role::kTenant;
  std::string key_id = {};  // the API key's name, never the key; empty where callers need none
  friend bool operator==(const Caller&, const Caller&) = default;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual absl::StatusOr<Caller> Authenticate(const CallIdentity& call) const = 0;

  // True when callers need no credential: such a server is for one machine's own use.
  virtual bool is_open() const = 0;
};

// Everyone is the tenant "default". Callers on this machine are operators: whoever can call from here could as well
// restart the server. Callers from elsewhere, which --insecure-open lets in, are not.
std::unique_ptr<Authenticator> OpenAuthenticator();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_AUTHENTICATOR_H_
