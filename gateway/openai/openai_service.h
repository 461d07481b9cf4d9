// OpenAiService: the OpenAI-compatible API: /v1/models, /v1/chat/completions and /v1/completions.
//
// Thread-safety: AddTo is called before the server starts; handlers run on its I/O threads.
// Ownership: borrows the context; outlives the server that its routes were added to, and the engine.
//
//   OpenAiService openai(context, {});
//   openai.AddTo(router);

#ifndef HEADSTART_GATEWAY_OPENAI_OPENAI_SERVICE_H_
#define HEADSTART_GATEWAY_OPENAI_OPENAI_SERVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/http/router.h"
#include "gateway/openai/openai_options.h"
#include "gateway/openai/openai_request.h"
#include "gateway/openai/tool_call_format.h"
#include "gateway/services/input_encoder.h"
#include "gateway/services/service_context.h"

namespace headstart {

class OpenAiService {
 public:
  OpenAiService(const ServiceContext& context, const OpenAiOptions& options);

  void AddTo(HttpRouter& router);

  ToolCallFormat tool_call_format() const { return tool_call_format_; }

 private:
  void ListModels(HttpExchange& exchange) const;
  void GetModel(HttpExchange& exchange) const;
  void Complete(OpenAiApi api, const std::shared_ptr<HttpExchange>& exchange) const;
  void ParseAndStart(OpenAiApi api, const std::shared_ptr<HttpExchange>& exchange, const Caller& caller) const;

  const ServiceContext& context_;
  const OpenAiOptions options_;
  const ToolCallFormat tool_call_format_;
  const InputEncoder encoder_;
  const absl::Time started_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_OPENAI_OPENAI_SERVICE_H_
