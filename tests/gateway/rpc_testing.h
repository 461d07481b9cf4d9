// What tests of the gateway share: a server in this process, an authenticator with tenants, and matchers for error
// details.

#ifndef HEADSTART_TESTS_GATEWAY_RPC_TESTING_H_
#define HEADSTART_TESTS_GATEWAY_RPC_TESTING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/accounting/accountant.h"
#include "gateway/errors/type_url.h"
#include "gateway/services/request_observer.h"
#include "gateway/serving/service_host.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/client_context.h"
#include "headstart/v1/admin.grpc.pb.h"
#include "headstart/v1/inference.grpc.pb.h"
#include "headstart/v1/prefix.grpc.pb.h"

namespace headstart::testing {

// The tenant is what the call's metadata `authorization` says, and nothing else; without it there is none. The tenant
// "operator" is one.
class TokenAuthenticator final : public Authenticator {
 public:
  absl::StatusOr<Caller> Authenticate(const CallIdentity& call) const override;
  bool is_open() const override { return false; }
};

// Keeps the records of finished requests.
class RecordingObserver final : public RequestObserver {
 public:
  void OnRequestFinished(const RequestRecord& record) override ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until there are `count`.
  std::vector<RequestRecord> WaitForRecords(size_t count) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Mutex mutex_;
  std::vector<RequestRecord> records_ ABSL_GUARDED_BY(mutex_);
};

// Admits as it is told, and keeps what it is to record; answers at once, or when the test lets it.
class RecordingAccountant final : public Accountant {
 public:
  absl::Status Admit(const AdmissionRequest& request) const override ABSL_LOCKS_EXCLUDED(mutex_);
  void Record(RequestRecord record, Recorded done) override ABSL_LOCKS_EXCLUDED(mutex_);
  v1::Charge Predict(const std::string& model, const GenerationUsage& usage) const override;

  // What Admit says from now on.
  void Refuse(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // From now on records wait for Release.
  void Hold() ABSL_LOCKS_EXCLUDED(mutex_);
  void Release() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<AdmissionRequest> admissions() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until there are `count`.
  std::vector<RequestRecord> WaitForRecords(size_t count) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  mutable std::vector<AdmissionRequest> admissions_ ABSL_GUARDED_BY(mutex_);
  std::vector<RequestRecord> records_ ABSL_GUARDED_BY(mutex_);
  std::vector<Recorded> waiting_ ABSL_GUARDED_BY(mutex_);
};

// A served engine and a client of it.
class ServedEngine {
 public:
  explicit ServedEngine(std::unique_ptr<Engine> engine, ServiceHostOptions options = {},
                        std::unique_ptr<Authenticator> authenticator = OpenAuthenticator());

  v1::InferenceService::Stub& stub() { return *stub_; }
  v1::PrefixService::Stub& prefixes() { return *prefixes_; }
  v1::AdminService::Stub& admin() { return *admin_; }
  ServiceHost& host() { return *host_; }
  RecordingObserver& observer() { return observer_; }
  RecordingAccountant& accountant() { return accountant_; }

 private:
  std::unique_ptr<Authenticator> authenticator_;
  RecordingObserver observer_;
  RecordingAccountant accountant_;
  std::unique_ptr<ServiceHost> host_;
  std::unique_ptr<v1::InferenceService::Stub> stub_;
  std::unique_ptr<v1::PrefixService::Stub> prefixes_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
};

// All of a stream.
struct Stream {
  std::vector<v1::GenerateResponse> events;
  grpc::Status status;

  std::string text() const;
  std::vector<int32_t> token_ids() const;
  const v1::GenerateStarted& started() const { return events.front().started(); }
  const v1::GenerateFinished& finished() const { return events.back().finished(); }
};

// `tenant` goes into the metadata that TokenAuthenticator reads.
Stream Generate(v1::InferenceService::Stub& stub, const v1::GenerateRequest& request, const std::string& tenant = "");

// A unary call; `tenant` goes into the metadata that TokenAuthenticator reads.
template <typename Stub, typename Request, typename Response>
grpc::Status Call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, Response& response, const std::string& tenant = "") {
  grpc::ClientContext context;
  if (!tenant.empty()) context.AddMetadata("authorization", tenant);
  return (stub.*method)(&context, request, &response);
}

v1::GenerateRequest TextRequest(const std::string& text);
v1::GenerateRequest ChatRequest(const std::vector<std::pair<std::string, std::string>>& messages);

// The detail of that type among the status' details.
template <typename Detail>
std::optional<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status wire;
  if (!wire.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& any : wire.details()) {
    Detail detail;
    if (any.type_url() == TypeUrl<Detail>() && detail.ParseFromString(any.value())) return detail;
  }
  return std::nullopt;
}

// ErrorInfo's reason; empty without one.
std::string ReasonOf(const grpc::Status& status);

// The first field that BadRequest names; empty without one.
std::string FieldOf(const grpc::Status& status);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_RPC_TESTING_H_
