#include "gateway/services/usage_export_call.h"

#include <utility>

#include "gateway/errors/grpc_status.h"
#include "gateway/services/submit_errors.h"

namespace headstart {
namespace {

using Reactor = grpc::ServerWriteReactor<v1::ExportUsageResponse>;

class Refused final : public Reactor {
 public:
  explicit Refused(const absl::Status& status) { Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

absl::Status Gone() { return absl::CancelledError("the caller went away"); }

}  // namespace

Reactor* UsageExportCall::Refuse(const absl::Status& status) { return new Refused(status); }

Reactor* UsageExportCall::Start(TaskRunner& workers, RecordCursor cursor, std::string tenant) {
  std::shared_ptr<UsageExportCall> call(new UsageExportCall(workers, std::move(cursor), std::move(tenant)));
  call->self_ = call;
  call->ReadSoon();
  return call.get();
}

void UsageExportCall::OnWriteDone(bool ok) { return ok ? ReadSoon() : Finish(ToGrpcStatus(Gone())); }

void UsageExportCall::ReadSoon() {
  if (!workers_.TryRun([self = shared_from_this()] { self->Read(); })) Finish(ToGrpcStatus(TooBusy()));
}

// A page of a ledger that holds little of this tenant may be empty: others get their turn before the next one.
void UsageExportCall::Read() {
  if (cancelled_) return Finish(ToGrpcStatus(Gone()));
  if (cursor_.at_end()) return Finish(grpc::Status::OK);
  auto entries = cursor_.Next(tenant_);
  if (!entries.ok()) return Finish(ToGrpcStatus(entries.status()));
  if (entries->empty()) return ReadSoon();
  page_.Clear();
  for (v1::UsageEntry& entry : *entries) *page_.add_entries() = std::move(entry);
  StartWrite(&page_);
}

}  // namespace headstart
