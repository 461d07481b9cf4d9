#include "tests/gateway/rpc_testing.h"

#include <algorithm>

#include "gateway/errors/error_details.h"

namespace headstart::testing {
namespace {

v1::Receipt Receipt() {
  v1::Receipt receipt;
  receipt.set_recorded(true);
  receipt.mutable_charge()->set_currency("TST");
  receipt.mutable_charge()->set_cost_nanos(7);
  return receipt;
}

}  // namespace

absl::StatusOr<Caller> TokenAuthenticator::Authenticate(const CallIdentity& call) const {
  for (const auto& [key, value] : call.metadata) {
    if (key != "authorization") continue;
    return Caller{.tenant = std::string(value), .role = value == "operator" ? Role::kOperator : Role::kTenant};
  }
  return WithReason(absl::UnauthenticatedError("no credential"), "CREDENTIAL_MISSING");
}

void RecordingObserver::OnRequestFinished(const RequestRecord& record) {
  MutexLock lock(mutex_);
  records_.push_back(record);
  mutex_.NotifyAll();
}

std::vector<RequestRecord> RecordingObserver::WaitForRecords(size_t count) {
  MutexLock lock(mutex_);
  while (records_.size() < count) mutex_.Wait();
  return records_;
}

absl::Status RecordingAccountant::Admit(const AdmissionRequest& request) const {
  MutexLock lock(mutex_);
  admissions_.push_back(request);
  return status_;
}

void RecordingAccountant::Record(RequestRecord record, Recorded done) {
  {
    MutexLock lock(mutex_);
    records_.push_back(std::move(record));
    mutex_.NotifyAll();
    if (held_) return waiting_.push_back(std::move(done));
  }
  done(Receipt());
}

v1::Charge RecordingAccountant::Predict(const std::string&, const GenerationUsage& usage) const {
  v1::Charge charge;
  charge.set_currency("TST");
  charge.set_cost_nanos(usage.computed_prompt_tokens);
  return charge;
}

void RecordingAccountant::Refuse(absl::Status status) {
  MutexLock lock(mutex_);
  status_ = std::move(status);
}

void RecordingAccountant::Hold() {
  MutexLock lock(mutex_);
  held_ = true;
}

void RecordingAccountant::Release() {
  std::vector<Recorded> waiting;
  {
    MutexLock lock(mutex_);
    held_ = false;
    waiting.swap(waiting_);
  }
  for (const Recorded& done : waiting) done(Receipt());
}

std::vector<AdmissionRequest> RecordingAccountant::admissions() const {
  MutexLock lock(mutex_);
  return admissions_;
}

std::vector<RequestRecord> RecordingAccountant::WaitForRecords(size_t count) {
  MutexLock lock(mutex_);
  while (records_.size() < count) mutex_.Wait();
  return records_;
}

ServedEngine::ServedEngine(std::unique_ptr<Engine> engine, ServiceHostOptions options,
                           std::unique_ptr<Authenticator> authenticator)
    : authenticator_(std::move(authenticator)) {
  options.grpc.listen = "127.0.0.1:0";
  host_ = *ServiceHost::Start(std::move(engine), options,
                              {.authenticator = *authenticator_, .observer = observer_, .accountant = accountant_});
  const auto channel = host_->server().InProcessChannel();
  stub_ = v1::InferenceService::NewStub(channel);
  prefixes_ = v1::PrefixService::NewStub(channel);
  admin_ = v1::AdminService::NewStub(channel);
}

std::string Stream::text() const {
  std::string result;
  for (const auto& event : events) result += event.delta().text();
  return result;
}

std::vector<int32_t> Stream::token_ids() const {
  std::vector<int32_t> result;
  for (const auto& event : events) {
    result.insert(result.end(), event.delta().token_ids().begin(), event.delta().token_ids().end());
  }
  return result;
}

Stream Generate(v1::InferenceService::Stub& stub, const v1::GenerateRequest& request, const std::string& tenant) {
  grpc::ClientContext context;
  if (!tenant.empty()) context.AddMetadata("authorization", tenant);
  auto reader = stub.Generate(&context, request);
  Stream stream;
  v1::GenerateResponse event;
  while (reader->Read(&event)) stream.events.push_back(event);
  stream.status = reader->Finish();
  return stream;
}

v1::GenerateRequest TextRequest(const std::string& text) {
  v1::GenerateRequest request;
  request.mutable_input()->mutable_text()->set_text(text);
  request.mutable_sampling()->set_temperature(0);
  return request;
}

v1::GenerateRequest ChatRequest(const std::vector<std::pair<std::string, std::string>>& messages) {
  v1::GenerateRequest request;
  for (const auto& [role, content] : messages) {
    v1::Message& message = *request.mutable_input()->mutable_chat()->add_messages();
    message.set_role(role);
    message.set_content(content);
  }
  request.mutable_sampling()->set_temperature(0);
  return request;
}

std::string ReasonOf(const grpc::Status& status) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(status);
  return info ? info->reason() : "";
}

std::string FieldOf(const grpc::Status& status) {
  const auto bad = DetailOf<google::rpc::BadRequest>(status);
  return bad && bad->field_violations_size() > 0 ? bad->field_violations(0).field() : "";
}

}  // namespace headstart::testing
