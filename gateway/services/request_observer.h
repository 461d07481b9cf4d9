// RequestObserver: hears of every request that computed something and has ended, for logs and for the account.
//
// Thread-safety: called from the engine's scheduler thread; must return at once.

#ifndef HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_
#define HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_

#include <map>
#include <string>

#include "engine/generation.h"

namespace headstart {

enum class RequestKind { kGenerate, kCreatePrefix };

// Never the prompt or the answer.
struct RequestRecord {
  RequestKind kind = RequestKind::kGenerate;
  std::string request_id;
  std::string tenant;
  std::string model;
  std::map<std::string, std::string> labels;
  FinishReason reason = FinishReason::kStop;
  GenerationUsage usage;
  GenerationTimings timings;  // zero for kCreatePrefix: the engine does not tell
};

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnRequestFinished(const RequestRecord& record) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_
