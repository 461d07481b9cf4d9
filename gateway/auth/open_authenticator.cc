#include "gateway/auth/authenticator.h"

namespace headstart {
namespace {

class OpenAuthenticatorImpl final : public Authenticator {
 public:
  absl::StatusOr<Caller> Authenticate(const CallIdentity&) const override { return Caller{.tenant = "default"}; }
  bool is_open() const override { return true; }
};

}  // namespace

std::unique_ptr<Authenticator> OpenAuthenticator() { return std::make_unique<OpenAuthenticatorImpl>(); }

}  // namespace headstart
