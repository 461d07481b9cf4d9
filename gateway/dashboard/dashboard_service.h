// DashboardService: the page at "/" and the numbers that it shows.
//
//   GET /                     the page, with its script, its styles and Chart.js beside it, all from this server
//   GET /dashboard/data       numbers, as JSON, new every second
//   GET /dashboard/insight    misses explained and hottest prefixes, as JSON, new every ten seconds
//
// Operators see everything. Other callers see their own tenant's sums, misses and prefixes.
//
// Thread-safety: AddTo is called before the server starts; handlers run on its I/O threads, and give what takes time to
// the context's workers.
// Ownership: borrows context and activity; outlives the server that its routes were added to.

#ifndef HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_SERVICE_H_
#define HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/dashboard/activity.h"
#include "gateway/http/router.h"
#include "gateway/services/service_context.h"

namespace headstart {

class DashboardService {
 public:
  DashboardService(const ServiceContext& context, Activity& activity);

  void AddTo(HttpRouter& router);

 private:
  // What was answered lately, and to whom.
  struct Kept {
    absl::Time time = absl::InfinitePast();
    std::string body;
  };
  using Make = std::string (DashboardService::*)(const Caller& caller) const;

  // Answers with what `make` says, or said less than `lifetime` ago.
  void Answer(const std::shared_ptr<HttpExchange>& exchange, const std::string& what, absl::Duration lifetime,
              Make make) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string KeptFor(const std::string& key, absl::Duration lifetime) ABSL_LOCKS_EXCLUDED(mutex_);
  void Keep(const std::string& key, const std::string& body) ABSL_LOCKS_EXCLUDED(mutex_);

  std::string Data(const Caller& caller) const;
  std::string Insight(const Caller& caller) const;

  const ServiceContext& context_;
  Activity& activity_;
  Mutex mutex_;
  std::map<std::string, Kept> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_SERVICE_H_
