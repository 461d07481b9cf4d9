// A tenant's misses, explained for whoever may know.

#ifndef HEADSTART_GATEWAY_SERVICES_EXPLAIN_MISSES_H_
#define HEADSTART_GATEWAY_SERVICES_EXPLAIN_MISSES_H_

#include <string>

#include "absl/status/status.h"
#include "gateway/auth/authenticator.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/admin.pb.h"

namespace headstart {

inline constexpr int kDefaultExplanations = 20;
inline constexpr int kMaxExplanations = 100;

// PERMISSION_DENIED for another tenant, unless the caller is an operator; INVALID_ARGUMENT for a count out of range.
absl::Status CheckExplainMisses(const Caller& caller, const v1::ExplainMissesRequest& request);

// Takes time with the prompts that are remembered: not for gRPC's threads.
v1::ExplainMissesResponse ExplainMisses(const ServiceContext& context, const std::string& tenant, int max_explanations);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_EXPLAIN_MISSES_H_
