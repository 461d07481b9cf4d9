#include "gateway/services/inference_checks.h"

#include "gateway/services/call_guard.h"
#include "gateway/services/submit_errors.h"

namespace headstart {

absl::Status CheckGenerate(const ServiceContext& context, const v1::GenerateRequest& request) {
  if (context.stopping) return ShuttingDown();
  absl::Status status = CheckModel(context, request.model());
  status.Update(CheckRequest(request, context.limits));
  status.Update(CheckTokenIds("stop_token_ids", request.stop_token_ids(), context.engine.config().vocab_size));
  return status;
}

}  // namespace headstart
