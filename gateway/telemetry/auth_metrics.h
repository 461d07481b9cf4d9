// AuthMetrics: calls that were refused for their credential, by why.
//
// Thread-safety: Collect may be called from any thread.
// Ownership: borrows the authenticator.

#ifndef HEADSTART_GATEWAY_TELEMETRY_AUTH_METRICS_H_
#define HEADSTART_GATEWAY_TELEMETRY_AUTH_METRICS_H_

#include <vector>

#include "gateway/auth/key_authenticator.h"
#include "gateway/telemetry/families.h"
#include "prometheus/collectable.h"

namespace headstart {

class AuthMetrics final : public prometheus::Collectable {
 public:
  explicit AuthMetrics(const KeyAuthenticator& authenticator) : authenticator_(authenticator) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    const AuthenticationFailures failures = authenticator_.failures();
    auto family = CounterFamily("headstart_auth_failures_total", "Calls that were refused for their credential");
    AddCounter(family, {{"reason", "missing"}}, failures.missing);
    AddCounter(family, {{"reason", "invalid"}}, failures.invalid);
    AddCounter(family, {{"reason", "expired"}}, failures.expired);
    return {std::move(family)};
  }

 private:
  const KeyAuthenticator& authenticator_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TELEMETRY_AUTH_METRICS_H_
