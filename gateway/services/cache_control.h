// What a request says of the cache, checked and as the engine takes it.
//
// Thread-safety: free functions over values.

#ifndef HEADSTART_GATEWAY_SERVICES_CACHE_CONTROL_H_
#define HEADSTART_GATEWAY_SERVICES_CACHE_CONTROL_H_

#include "absl/status/status.h"
#include "engine/generation.h"
#include "headstart/v1/cache.pb.h"

namespace headstart {

// INVALID_ARGUMENT naming cache.priority or cache.ttl.
absl::Status CheckCacheControl(const v1::CacheControl& control);

// REQUIRES: CheckCacheControl(control) passed.
void ApplyCacheControl(const v1::CacheControl& control, GenerationRequest& request);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_CACHE_CONTROL_H_
