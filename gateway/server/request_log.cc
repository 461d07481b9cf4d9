#include "gateway/server/request_log.h"

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "spdlog/pattern_formatter.h"

namespace headstart {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%e%z %l %v";
// By this name of a logger, the formatter knows a line that is a JSON object.
constexpr char kAttributesLogger[] = "headstart.request";

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

std::string TextOf(const RequestRecord& record) {
  const GenerationUsage& usage = record.usage;
  const GenerationTimings& timings = record.timings;
  return fmt::format(
      "{} request_id={} tenant={} reason={} prompt_tokens={} cached_tokens={} computed_prompt_tokens={} "
      "cache_write_tokens={} completion_tokens={} queue_ms={:.1f} ttft_ms={:.1f} total_ms={:.1f}",
      NameOf(record.kind), record.request_id, record.tenant, NameOf(record.reason), usage.prompt_tokens,
      usage.cached_tokens(), usage.computed_prompt_tokens, usage.cache_write_tokens, usage.completion_tokens,
      absl::ToDoubleMilliseconds(timings.queue), absl::ToDoubleMilliseconds(timings.ttft),
      absl::ToDoubleMilliseconds(timings.total));
}

// What a caller wrote may be no UTF-8; the line is JSON all the same.
std::string Dump(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string JsonOf(const RequestRecord& record) {
  const GenerationUsage& usage = record.usage;
  const GenerationTimings& timings = record.timings;
  return Dump({{"message", NameOf(record.kind)},
               {"gen_ai.operation.name", NameOf(record.kind)},
               {"gen_ai.response.id", record.request_id},
               {"gen_ai.request.model", record.model},
               {"gen_ai.response.finish_reasons", nlohmann::ordered_json::array({NameOf(record.reason)})},
               {"gen_ai.usage.input_tokens", usage.prompt_tokens},
               {"gen_ai.usage.output_tokens", usage.completion_tokens},
               {"gen_ai.usage.cache_read.input_tokens", usage.cached_tokens()},
               {"gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens},
               {"gen_ai.server.time_to_first_token", absl::ToDoubleSeconds(timings.ttft)},
               {"gen_ai.server.request.duration", absl::ToDoubleSeconds(timings.total)},
               {"headstart.tenant", record.tenant},
               {"headstart.key_id", record.key_id},
               {"headstart.usage.computed_prompt_tokens", usage.computed_prompt_tokens},
               {"headstart.usage.cached_device_tokens", usage.cached_device_tokens},
               {"headstart.usage.cached_host_tokens", usage.cached_host_tokens},
               {"headstart.usage.cached_disk_tokens", usage.cached_disk_tokens},
               {"headstart.usage.cached_remote_tokens", usage.cached_remote_tokens},
               {"headstart.usage.recomputed_tokens", usage.recomputed_tokens},
               {"headstart.queue_seconds", absl::ToDoubleSeconds(timings.queue)},
               {"headstart.load_seconds", absl::ToDoubleSeconds(timings.load)},
               {"headstart.prefill_seconds", absl::ToDoubleSeconds(timings.prefill)},
               {"headstart.decode_seconds", absl::ToDoubleSeconds(timings.decode)}});
}

std::string_view ViewOf(spdlog::string_view_t text) { return {text.data(), text.size()}; }

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& out) override {
    const std::string time =
        absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", absl::FromChrono(line.time), absl::UTCTimeZone());
    const std::string_view payload = ViewOf(line.payload);
    // An object's members are taken over as they stand.
    const bool is_object = ViewOf(line.logger_name) == kAttributesLogger;
    const std::string rest = is_object ? std::string(payload) : Dump({{"message", payload}});
    fmt::format_to(std::back_inserter(out), "{{\"time\":\"{}\",\"level\":\"{}\",{}\n", time,
                   ViewOf(spdlog::level::to_string_view(line.level)), std::string_view(rest).substr(1));
  }

  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> NewLogFormatter(LogFormat format) {
  if (format == LogFormat::kJson) return std::make_unique<JsonFormatter>();
  return std::make_unique<spdlog::pattern_formatter>(kTextPattern);
}

RequestLog::RequestLog(spdlog::logger& logger, LogFormat format)
    : logger_(logger), format_(format), attributes_(kAttributesLogger, logger.sinks().begin(), logger.sinks().end()) {}

void RequestLog::OnRequestFinished(const RequestRecord& record) {
  if (!logger_.should_log(spdlog::level::info)) return;
  if (format_ == LogFormat::kText) return logger_.info("{}", TextOf(record));
  attributes_.info("{}", JsonOf(record));
}

}  // namespace headstart
