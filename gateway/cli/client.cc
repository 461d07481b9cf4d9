#include "gateway/cli/client.h"

#include "absl/time/clock.h"
#include "grpcpp/client_context.h"

namespace headstart {
namespace {

void Take(const v1::GenerateDelta& delta, absl::Time start, Answer& answer,
          const std::function<void(std::string_view)>& on_text) {
  if (answer.text.empty() && !delta.token_ids().empty()) answer.time_to_first_text = absl::Now() - start;
  answer.text += delta.text();
  if (on_text && !delta.text().empty()) on_text(delta.text());
}

}  // namespace

Client::Client(const ServerAccess& access)
    : connection_(access), stub_(v1::InferenceService::NewStub(connection_.channel())) {}

absl::StatusOr<Answer> Client::Generate(const v1::GenerateRequest& request,
                                        const std::function<void(std::string_view)>& on_text) {
  Answer answer;
  grpc::ClientContext context;
  const absl::Time start = absl::Now();
  auto stream = stub_->Generate(&context, request);
  v1::GenerateResponse event;
  CallProgress progress = CallProgress::kNothingHeard;
  while (stream->Read(&event)) {
    progress = CallProgress::kAnswerBegun;
    if (event.has_started()) answer.started = std::move(*event.mutable_started());
    if (event.has_delta()) Take(event.delta(), start, answer, on_text);
    if (event.has_finished()) answer.finished = std::move(*event.mutable_finished());
  }
  if (const grpc::Status status = stream->Finish(); !status.ok()) return connection_.Explain(status, progress);
  return answer;
}

absl::StatusOr<v1::CountTokensResponse> Client::CountTokens(const v1::CountTokensRequest& request) {
  grpc::ClientContext context;
  v1::CountTokensResponse response;
  const grpc::Status status = stub_->CountTokens(&context, request, &response);
  if (!status.ok()) return connection_.Explain(status);
  return response;
}

absl::StatusOr<v1::ListModelsResponse> Client::ListModels() {
  grpc::ClientContext context;
  v1::ListModelsResponse response;
  const grpc::Status status = stub_->ListModels(&context, {}, &response);
  if (!status.ok()) return connection_.Explain(status);
  return response;
}

}  // namespace headstart
