#include "gateway/errors/grpc_status.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/cord.h"
#include "gateway/errors/error_details.h"
#include "gateway/errors/type_url.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace headstart {
namespace {

struct CodeRow {
  absl::StatusCode code;
  grpc::StatusCode grpc_code;
};

// Equal by name; written out so that a code added on either side is a decision.
constexpr std::array<CodeRow, 17> kCodes = {{
    {absl::StatusCode::kOk, grpc::StatusCode::OK},
    {absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED},
    {absl::StatusCode::kUnknown, grpc::StatusCode::UNKNOWN},
    {absl::StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT},
    {absl::StatusCode::kDeadlineExceeded, grpc::StatusCode::DEADLINE_EXCEEDED},
    {absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND},
    {absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS},
    {absl::StatusCode::kPermissionDenied, grpc::StatusCode::PERMISSION_DENIED},
    {absl::StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {absl::StatusCode::kFailedPrecondition, grpc::StatusCode::FAILED_PRECONDITION},
    {absl::StatusCode::kAborted, grpc::StatusCode::ABORTED},
    {absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE},
    {absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED},
    {absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL},
    {absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE},
    {absl::StatusCode::kDataLoss, grpc::StatusCode::DATA_LOSS},
    {absl::StatusCode::kUnauthenticated, grpc::StatusCode::UNAUTHENTICATED},
}};

grpc::StatusCode ToGrpcCode(absl::StatusCode code) {
  const auto* row = std::ranges::find(kCodes, code, &CodeRow::code);
  return row == kCodes.end() ? grpc::StatusCode::UNKNOWN : row->grpc_code;
}

absl::StatusCode FromGrpcCode(grpc::StatusCode code) {
  const auto* row = std::ranges::find(kCodes, code, &CodeRow::grpc_code);
  return row == kCodes.end() ? absl::StatusCode::kUnknown : row->code;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  absl::Status detailed = status;
  if (!detailed.GetPayload(TypeUrl<google::rpc::ErrorInfo>())) {
    detailed = WithReason(std::move(detailed), absl::StatusCodeToString(status.code()));
  }
  const grpc::StatusCode code = ToGrpcCode(status.code());
  const std::string message(status.message());
  google::rpc::Status wire;
  wire.set_code(code);
  wire.set_message(message);
  detailed.ForEachPayload([&wire](auto type_url, const absl::Cord& payload) {
    auto* detail = wire.add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
  });
  return grpc::Status(code, message, wire.SerializeAsString());
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(FromGrpcCode(status.error_code()), status.error_message());
  google::rpc::Status wire;
  if (!wire.ParseFromString(status.error_details())) return result;
  for (const auto& detail : wire.details()) result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  return result;
}

}  // namespace headstart
