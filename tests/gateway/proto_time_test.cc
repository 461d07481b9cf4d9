// Durations and times at the edges of what protobuf can say.

#include "gateway/services/proto_time.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

google::protobuf::Duration Lasting(int64_t seconds, int32_t nanos) {
  google::protobuf::Duration duration;
  duration.set_seconds(seconds);
  duration.set_nanos(nanos);
  return duration;
}

google::protobuf::Timestamp At(int64_t seconds, int32_t nanos) {
  google::protobuf::Timestamp time;
  time.set_seconds(seconds);
  time.set_nanos(nanos);
  return time;
}

TEST(ProtoTimeTest, WhatIsWrittenIsRead) {
  for (const absl::Duration duration : {absl::Nanoseconds(1), absl::Milliseconds(1500), absl::Hours(24 * 365)}) {
    google::protobuf::Duration written;
    Set(duration, &written);
    ASSERT_OK_AND_ASSIGN(const absl::Duration read, ParseTtl("ttl", written));
    EXPECT_EQ(read, duration);
    google::protobuf::Timestamp time;
    Set(kNow + duration, &time);
    ASSERT_OK_AND_ASSIGN(const absl::Time back, ParseExpiry("expire_time", time, kNow));
    EXPECT_EQ(back, kNow + duration);
  }
}

TEST(ProtoTimeTest, TimesBeforeTheEpochKeepTheirNanosecondsPositive) {
  google::protobuf::Timestamp time;
  Set(absl::UnixEpoch() - absl::Nanoseconds(1), &time);
  EXPECT_EQ(time.seconds(), -1);
  EXPECT_EQ(time.nanos(), 999'999'999);
}

TEST(ProtoTimeTest, TtlThatIsNone) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const auto& ttl : {Lasting(0, 0), Lasting(-1, 0), Lasting(0, -1), Lasting(1, -1), Lasting(-1, 1),
                          Lasting(0, 1'000'000'000), Lasting(kLargest, 0), Lasting(-kLargest, 0)}) {
    EXPECT_THAT(ParseTtl("ttl", ttl), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ttl is ")))
        << ttl.ShortDebugString();
  }
}

TEST(ProtoTimeTest, ExpiryAfterTheLastTimestampIsRefused) {
  EXPECT_THAT(ParseExpiry("ttl", Lasting(315'576'000'000, 0), kNow),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("9999")));
  EXPECT_OK(ParseExpiry("ttl", Lasting(100'000'000'000, 0), kNow));
}

TEST(ProtoTimeTest, ExpiryThatHasPassedOrIsNone) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const auto& time : {At(0, 0), At(1'700'000'000, 0), At(1'699'999'999, 999'999'999), At(1'800'000'000, -1),
                           At(1'800'000'000, 1'000'000'000), At(kLargest, 0), At(-kLargest, 0)}) {
    EXPECT_THAT(ParseExpiry("expire_time", time, kNow),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expire_time is ")))
        << time.ShortDebugString();
  }
  EXPECT_OK(ParseExpiry("expire_time", At(1'700'000'000, 1), kNow));
}

}  // namespace
}  // namespace headstart::testing
