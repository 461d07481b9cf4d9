#include "gateway/server/request_log.h"

#include <string_view>

namespace headstart {
namespace {

std::string_view NameOf(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kDeadline:
      return "deadline";
    case FinishReason::kShutdown:
      return "shutdown";
  }
  return "unknown";
}

std::string_view NameOf(RequestKind kind) { return kind == RequestKind::kCreatePrefix ? "create_prefix" : "generate"; }

}  // namespace

void RequestLog::OnRequestFinished(const RequestRecord& record) {
  const GenerationUsage& usage = record.usage;
  const GenerationTimings& timings = record.timings;
  logger_.info(
      "{} request_id={} tenant={} reason={} prompt_tokens={} cached_tokens={} computed_prompt_tokens={} "
      "cache_write_tokens={} completion_tokens={} queue_ms={:.1f} ttft_ms={:.1f} total_ms={:.1f}",
      NameOf(record.kind), record.request_id, record.tenant, NameOf(record.reason), usage.prompt_tokens,
      usage.cached_tokens(), usage.computed_prompt_tokens, usage.cache_write_tokens, usage.completion_tokens,
      absl::ToDoubleMilliseconds(timings.queue), absl::ToDoubleMilliseconds(timings.ttft),
      absl::ToDoubleMilliseconds(timings.total));
}

}  // namespace headstart
