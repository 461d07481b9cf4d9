// What the dashboard's page is told, as JSON. The names are the page's: gateway/dashboard/page/dashboard.js.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_JSON_H_
#define HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_JSON_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gateway/dashboard/activity.h"
#include "gateway/insight/hottest_prefixes.h"
#include "headstart/v1/admin.pb.h"

namespace headstart {

// Everything, for operators.
std::string OperatorData(const ActivitySnapshot& activity, const v1::GetStatusResponse& status, absl::Time now);

// One tenant's sums. Nothing in it depends on another tenant.
std::string TenantData(const std::string& tenant, const ActivitySums& sums, const std::string& currency,
                       const std::string& model, absl::Time start, absl::Time now);

struct TenantInsight {
  std::string tenant;
  v1::ExplainMissesResponse misses;
  struct Prefix {
    int64_t requests = 0;
    int64_t tokens = 0;
    std::string text;
  };
  std::vector<Prefix> hottest;
};

// Of all tenants together: those that cost or are worth most first.
std::string InsightJson(const std::vector<TenantInsight>& tenants);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_DASHBOARD_DASHBOARD_JSON_H_
