#include "gateway/services/proto_time.h"

#include <cstdint>
#include <cstdlib>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"

namespace headstart {
namespace {

// The ranges that duration.proto and timestamp.proto give: 10,000 years, and the years 1 to 9999.
constexpr int64_t kMaxDurationSeconds = 315'576'000'000;
constexpr int64_t kMinTimeSeconds = -62'135'596'800;
constexpr int64_t kMaxTimeSeconds = 253'402'300'799;
constexpr int32_t kMaxNanos = 999'999'999;

bool IsWellFormed(const google::protobuf::Duration& duration) {
  const bool same_sign =
      duration.seconds() == 0 || duration.nanos() == 0 || (duration.seconds() < 0) == (duration.nanos() < 0);
  return same_sign && duration.seconds() >= -kMaxDurationSeconds && duration.seconds() <= kMaxDurationSeconds &&
         duration.nanos() >= -kMaxNanos && duration.nanos() <= kMaxNanos;
}

bool IsWellFormed(const google::protobuf::Timestamp& time) {
  return time.seconds() >= kMinTimeSeconds && time.seconds() <= kMaxTimeSeconds && time.nanos() >= 0 &&
         time.nanos() <= kMaxNanos;
}

}  // namespace

void Set(absl::Duration duration, google::protobuf::Duration* out) {
  absl::Duration rest;
  out->set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &rest));
  out->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
}

void Set(absl::Time time, google::protobuf::Timestamp* out) {
  out->set_seconds(absl::ToUnixSeconds(time));
  out->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(out->seconds()))));
}

absl::StatusOr<absl::Duration> ParseTtl(std::string_view field, const google::protobuf::Duration& ttl) {
  if (!IsWellFormed(ttl)) {
    return InvalidField(field,
                        fmt::format("is {} s and {} ns; a duration has less than a second of nanoseconds, of the "
                                    "same sign, and at most 10,000 years",
                                    ttl.seconds(), ttl.nanos()));
  }
  const absl::Duration duration = absl::Seconds(ttl.seconds()) + absl::Nanoseconds(ttl.nanos());
  if (duration > absl::ZeroDuration()) return duration;
  return InvalidField(field, fmt::format("is {}; it is more than 0, or unset", absl::FormatDuration(duration)));
}

absl::StatusOr<absl::Time> ParseExpiry(std::string_view field, const google::protobuf::Duration& ttl, absl::Time now) {
  auto duration = ParseTtl(field, ttl);
  if (!duration.ok()) return duration.status();
  if (absl::ToUnixSeconds(now + *duration) <= kMaxTimeSeconds) return now + *duration;
  return InvalidField(field, fmt::format("is {}, which ends after the year 9999; ask for no expiry instead",
                                         absl::FormatDuration(*duration)));
}

absl::StatusOr<absl::Time> ParseTime(std::string_view field, const google::protobuf::Timestamp& time) {
  if (IsWellFormed(time)) return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
  return InvalidField(field, fmt::format("is {} s and {} ns; a time lies in the years 1 to 9999 and has less than a "
                                         "second of nanoseconds",
                                         time.seconds(), time.nanos()));
}

absl::StatusOr<absl::Time> ParseExpiry(std::string_view field, const google::protobuf::Timestamp& time,
                                       absl::Time now) {
  const auto result = ParseTime(field, time);
  if (!result.ok() || *result > now) return result;
  return InvalidField(
      field, fmt::format("is {}; it lies in the future, and now is {}", absl::FormatTime(*result, absl::UTCTimeZone()),
                         absl::FormatTime(now, absl::UTCTimeZone())));
}

}  // namespace headstart
