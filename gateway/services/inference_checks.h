// What is checked of a request for an answer before any work, whichever protocol it came by.
//
// Thread-safety: free functions.

#ifndef HEADSTART_GATEWAY_SERVICES_INFERENCE_CHECKS_H_
#define HEADSTART_GATEWAY_SERVICES_INFERENCE_CHECKS_H_

#include "absl/status/status.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/inference.pb.h"

namespace headstart {

// UNAVAILABLE while the server stops, NOT_FOUND for another model, INVALID_ARGUMENT naming the field. With details.
absl::Status CheckGenerate(const ServiceContext& context, const v1::GenerateRequest& request);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_INFERENCE_CHECKS_H_
