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

absl::StatusOr<UsageExportCall::Page> UsageExportCall::ReadPage() {
  MutexLock lock(mutex_);
  if (cursor_.at_end()) return Page::kEnd;
  auto entries = cursor_.Next(tenant_);
  if (!entries.ok()) return entries.status();
  page_.Clear();
  for (v1::UsageEntry& entry : *entries) *page_.add_entries() = std::move(entry);
  return entries->empty() ? Page::kEmpty : Page::kEntries;
}

void UsageExportCall::Read() {
  if (cancelled_) return Finish(ToGrpcStatus(Gone()));
  const auto page = ReadPage();
  if (!page.ok()) return Finish(ToGrpcStatus(page.status()));
  switch (*page) {
    case Page::kEntries:
      return StartWrite(&page_);
    case Page::kEmpty:  // the ledger holds little of this tenant: others get their turn before the next page
      return ReadSoon();
    case Page::kEnd:
      return Finish(grpc::Status::OK);
  }
}

}  // namespace headstart
