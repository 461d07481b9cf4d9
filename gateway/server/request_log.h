// RequestLog: one line for each request that ended, as key=value pairs. Never a prompt, an answer or a label.
//
// Thread-safety: as RequestObserver.
// Ownership: the logger outlives it.

#ifndef HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_
#define HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_

#include "gateway/services/request_observer.h"
#include "spdlog/logger.h"

namespace headstart {

class RequestLog final : public RequestObserver {
 public:
  explicit RequestLog(spdlog::logger& logger) : logger_(logger) {}
  void OnRequestFinished(const RequestRecord& record) override;

 private:
  spdlog::logger& logger_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVER_REQUEST_LOG_H_
