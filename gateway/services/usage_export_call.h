// UsageExportCall: one ExportUsage stream. A page of entries is read on a worker, written, and only then the next one
// is read, so that a slow client holds a cursor and no memory.
//
//   reading ──(entries)──▶ writing ──(written)──▶ reading ──(no more, an error, or the client is gone)──▶ finished
//
// Thread-safety: gRPC's threads and one worker, one after the other; OnCancel at any time.
// Ownership: held by itself until gRPC is done with it, and by the worker that reads for it.

#ifndef HEADSTART_GATEWAY_SERVICES_USAGE_EXPORT_CALL_H_
#define HEADSTART_GATEWAY_SERVICES_USAGE_EXPORT_CALL_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "engine/mutex.h"
#include "gateway/ledger/record_cursor.h"
#include "gateway/services/task_runner.h"
#include "grpcpp/support/server_callback.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart {

class UsageExportCall final : public grpc::ServerWriteReactor<v1::ExportUsageResponse>,
                              public std::enable_shared_from_this<UsageExportCall> {
 public:
  // Entries of `tenant`, or of all when it is empty. The workers outlive the call.
  static grpc::ServerWriteReactor<v1::ExportUsageResponse>* Start(TaskRunner& workers, RecordCursor cursor,
                                                                  std::string tenant);
  // A stream that ends now.
  static grpc::ServerWriteReactor<v1::ExportUsageResponse>* Refuse(const absl::Status& status);

  // --- gRPC
  void OnWriteDone(bool ok) override;
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { self_.reset(); }

 private:
  UsageExportCall(TaskRunner& workers, RecordCursor cursor, std::string tenant)
      : workers_(workers), tenant_(std::move(tenant)), cursor_(std::move(cursor)) {}

  enum class Page { kEntries, kEmpty, kEnd };

  void ReadSoon();
  void Read();
  absl::StatusOr<Page> ReadPage() ABSL_LOCKS_EXCLUDED(mutex_);

  TaskRunner& workers_;
  const std::string tenant_;
  // One worker reads at a time, and the next one after gRPC's word that the page is written. ThreadSanitizer does not
  // see how gRPC hands over from thread to thread: it sees this.
  Mutex mutex_;
  RecordCursor cursor_ ABSL_GUARDED_BY(mutex_);
  v1::ExportUsageResponse page_;  // gRPC's while it is written
  std::atomic<bool> cancelled_ = false;
  std::shared_ptr<UsageExportCall> self_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_USAGE_EXPORT_CALL_H_
