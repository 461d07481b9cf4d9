// A Generate request as the engine takes it, all but its prompt and scope.

#ifndef HEADSTART_GATEWAY_SERVICES_GENERATION_REQUEST_H_
#define HEADSTART_GATEWAY_SERVICES_GENERATION_REQUEST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/generation.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

// `drawn_seed` is taken where the request sets none. INVALID_ARGUMENT naming the sampling field that is out of range.
// REQUIRES: CheckRequest(request) passed.
absl::StatusOr<GenerationRequest> ToGenerationRequest(const v1::GenerateRequest& request, uint64_t drawn_seed);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_GENERATION_REQUEST_H_
