// RequestObserver: hears of every request that computed something and has ended, for logs and metrics.
//
// Thread-safety: called from the engine's scheduler thread; must return at once.

#ifndef HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_
#define HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_

#include "gateway/accounting/request_record.h"

namespace headstart {

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnRequestFinished(const RequestRecord& record) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_REQUEST_OBSERVER_H_
