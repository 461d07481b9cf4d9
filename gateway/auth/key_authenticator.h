// KeyAuthenticator: callers are who their API key or their client certificate says. A key comes as
// `authorization: Bearer <key>` or as `x-api-key: <key>`. A key that is shown decides; only without one does a
// certificate.
//
// Thread-safety: every method may be called from any thread.
// Ownership: borrows the keys, which outlive it.
// Errors: as Authenticator. A key that was revoked and one that never was get the same answer in the same time.

#ifndef HEADSTART_GATEWAY_AUTH_KEY_AUTHENTICATOR_H_
#define HEADSTART_GATEWAY_AUTH_KEY_AUTHENTICATOR_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gateway/auth/authenticator.h"
#include "gateway/auth/key_file.h"

namespace headstart {

// Calls that were refused since the start.
struct AuthenticationFailures {
  int64_t missing = 0;
  int64_t invalid = 0;
  int64_t expired = 0;
};

class KeyAuthenticator final : public Authenticator {
 public:
  explicit KeyAuthenticator(const KeyFile& keys, std::function<absl::Time()> now = absl::Now)
      : keys_(keys), now_(std::move(now)) {}

  absl::StatusOr<Caller> Authenticate(const CallIdentity& call) const override;
  bool is_open() const override { return false; }

  AuthenticationFailures failures() const;

 private:
  absl::StatusOr<Caller> CallerWithKey(std::string_view key) const;
  absl::StatusOr<Caller> CallerWithCertificate(const CallIdentity& call) const;

  const KeyFile& keys_;
  const std::function<absl::Time()> now_;
  mutable std::atomic<int64_t> missing_ = 0;
  mutable std::atomic<int64_t> invalid_ = 0;
  mutable std::atomic<int64_t> expired_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_KEY_AUTHENTICATOR_H_
