// RequestLog: one line for each request that ended: key=value pairs, or a JSON object with OpenTelemetry's names. Never
// a prompt or an answer, nor a label: those are the caller's.
//
// Thread-safety: as RequestObserver.
// Ownership: the logger outlives it.

#ifndef HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_
#define HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_

#include <memory>

#include "gateway/services/request_observer.h"
#include "spdlog/formatter.h"
#include "spdlog/logger.h"

namespace headstart {

enum class LogFormat { kText, kJson };

// How a logger's lines look: "2026-11-30T12:00:00.000+00:00 info serving ..."; or one JSON object a line, with "time",
// "level" and "message", or, of a request, its attributes.
std::unique_ptr<spdlog::formatter> NewLogFormatter(LogFormat format);

class RequestLog final : public RequestObserver {
 public:
  // REQUIRES: the logger's sinks have the formatter of that format.
  explicit RequestLog(spdlog::logger& logger, LogFormat format = LogFormat::kText);
  void OnRequestFinished(const RequestRecord& record) override;

 private:
  spdlog::logger& logger_;
  const LogFormat format_;
  spdlog::logger attributes_;  // the same sinks; its lines are JSON already
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_
