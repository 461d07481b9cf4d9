#include "gateway/errors/error_details.h"

#include <string>

#include "absl/strings/cord.h"
#include "fmt/format.h"
#include "gateway/errors/type_url.h"
#include "google/rpc/error_details.pb.h"

namespace headstart {
namespace {

template <typename Detail>
absl::Status WithDetail(absl::Status status, const Detail& detail) {
  if (!status.ok()) status.SetPayload(TypeUrl<Detail>(), absl::Cord(detail.SerializeAsString()));
  return status;
}

absl::Status BadField(std::string_view field, std::string_view description, std::string_view reason) {
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(std::string(description));
  return WithReason(WithDetail(absl::InvalidArgumentError(fmt::format("{} {}", field, description)), detail), reason);
}

}  // namespace

absl::Status InvalidField(std::string_view field, std::string_view description) {
  return BadField(field, description, "INVALID_FIELD");
}

absl::Status OverLimit(std::string_view field, std::string_view description) {
  return BadField(field, description, "LIMIT_EXCEEDED");
}

absl::Status WithReason(absl::Status status, std::string_view reason) {
  google::rpc::ErrorInfo detail;
  detail.set_reason(std::string(reason));
  detail.set_domain(std::string(kErrorDomain));
  return WithDetail(std::move(status), detail);
}

absl::Status WithField(absl::Status status, std::string_view field) {
  google::rpc::BadRequest detail;
  auto* violation = detail.add_field_violations();
  violation->set_field(std::string(field));
  violation->set_description(std::string(status.message()));
  return WithDetail(std::move(status), detail);
}

absl::Status WithQuota(absl::Status status, std::string_view subject) {
  google::rpc::QuotaFailure detail;
  auto* violation = detail.add_violations();
  violation->set_subject(std::string(subject));
  violation->set_description(std::string(status.message()));
  return WithDetail(std::move(status), detail);
}

absl::Status WithRetryAfter(absl::Status status, absl::Duration delay) {
  google::rpc::RetryInfo detail;
  const int64_t nanos = absl::ToInt64Nanoseconds(delay);
  detail.mutable_retry_delay()->set_seconds(nanos / 1'000'000'000);
  detail.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanos % 1'000'000'000));
  return WithDetail(std::move(status), detail);
}

}  // namespace headstart
