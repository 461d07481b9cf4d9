// The table of codes and the details on the wire.

#include "gateway/errors/error_details.h"
#include "gateway/errors/grpc_status.h"
#include "gateway/services/submit_errors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

TEST(GrpcStatusTest, EveryCodeGoesThereAndBack) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "why");
    const grpc::Status wire = ToGrpcStatus(status);
    EXPECT_EQ(static_cast<int>(wire.error_code()), code);
    EXPECT_EQ(FromGrpcStatus(wire).code(), status.code());
  }
}

TEST(GrpcStatusTest, ErrorInfoIsAlwaysThere) {
  const auto info = DetailOf<google::rpc::ErrorInfo>(ToGrpcStatus(absl::InternalError("x")));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason(), "INTERNAL");
  EXPECT_EQ(info->domain(), "headstart.dev");
}

TEST(GrpcStatusTest, EachDetailIsThereOnce) {
  absl::Status status = InvalidField("stop", "is wrong");
  status = WithRetryAfter(WithReason(std::move(status), "OTHER_REASON"), absl::Milliseconds(1500));
  const grpc::Status wire = ToGrpcStatus(status);
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(wire.error_details()));
  EXPECT_EQ(details.code(), 3);
  EXPECT_EQ(details.message(), "stop is wrong");
  EXPECT_EQ(details.details_size(), 3);
  EXPECT_EQ(ReasonOf(wire), "OTHER_REASON");
  EXPECT_EQ(FieldOf(wire), "stop");
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(wire)->retry_delay().seconds(), 1);
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(wire)->retry_delay().nanos(), 500'000'000);
}

TEST(GrpcStatusTest, DetailsComeBackAsPayloads) {
  const absl::Status back = FromGrpcStatus(ToGrpcStatus(InvalidField("stop", "is wrong")));
  EXPECT_TRUE(back.GetPayload(TypeUrl<google::rpc::BadRequest>()).has_value());
}

TEST(GrpcStatusTest, OkStaysOk) {
  EXPECT_TRUE(ToGrpcStatus(WithReason(absl::OkStatus(), "NOTHING")).ok());
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
}

// The same words of the engine's, when a later try may find room and when none will.
TEST(SubmitErrorTest, AServerThatStopsHasNoFullQueue) {
  const absl::Status unavailable = absl::UnavailableError("no");
  EXPECT_EQ(ReasonOf(ToGrpcStatus(SubmitError(unavailable, /*stopping=*/false))), "QUEUE_FULL");
  EXPECT_EQ(ReasonOf(ToGrpcStatus(SubmitError(unavailable, /*stopping=*/true))), "SERVER_STOPPING");
  EXPECT_EQ(ReasonOf(ToGrpcStatus(PrefixError(unavailable, /*stopping=*/true))), "SERVER_STOPPING");
  EXPECT_EQ(ReasonOf(ToGrpcStatus(SubmitError(absl::OutOfRangeError("no"), /*stopping=*/true))), "PROMPT_TOO_LONG");
}

}  // namespace
}  // namespace headstart::testing
