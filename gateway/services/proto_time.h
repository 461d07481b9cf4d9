// Durations and times between protobuf and Abseil.
//
// Thread-safety: free functions over values.
// Errors: INVALID_ARGUMENT naming the field, with BadRequest details.

#ifndef HEADSTART_GATEWAY_SERVICES_PROTO_TIME_H_
#define HEADSTART_GATEWAY_SERVICES_PROTO_TIME_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

namespace headstart {

// REQUIRES: finite.
void Set(absl::Duration duration, google::protobuf::Duration* out);
void Set(absl::Time time, google::protobuf::Timestamp* out);

// A length of time to live: well-formed and more than 0.
absl::StatusOr<absl::Duration> ParseTtl(std::string_view field, const google::protobuf::Duration& ttl);

// A time of the years 1 to 9999.
absl::StatusOr<absl::Time> ParseTime(std::string_view field, const google::protobuf::Timestamp& time);

// The end of something that begins at `now`: after it, and no later than a Timestamp can say.
absl::StatusOr<absl::Time> ParseExpiry(std::string_view field, const google::protobuf::Duration& ttl, absl::Time now);
absl::StatusOr<absl::Time> ParseExpiry(std::string_view field, const google::protobuf::Timestamp& time, absl::Time now);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_PROTO_TIME_H_
