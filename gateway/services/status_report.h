// What an operator sees of a running server.

#ifndef HEADSTART_GATEWAY_SERVICES_STATUS_REPORT_H_
#define HEADSTART_GATEWAY_SERVICES_STATUS_REPORT_H_

#include "absl/time/time.h"
#include "gateway/services/service_context.h"
#include "headstart/v1/admin.pb.h"
#include "prefix_store/tier/disk_tier.h"

namespace headstart {

// The server as it is at `now`; it started at `start`.
v1::GetStatusResponse ToStatus(const ServiceContext& context, absl::Time start, absl::Time now);

// What reading all of a disk tier has found.
void Fill(const VerifyReport& report, v1::VerifyDiskResponse& response);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_STATUS_REPORT_H_
