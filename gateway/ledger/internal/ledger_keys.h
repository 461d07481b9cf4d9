// Keys of the ledger's column families: docs/formats/ledger.md. Integers are big-endian, so that keys sort by time;
// text is preceded by its length, so that no two tenants' ids run together.
//
// Thread-safety: pure functions.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_KEYS_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_KEYS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gateway/ledger/usage_hour.h"
#include "headstart/v1/usage_service.pb.h"

namespace headstart::ledger_internal {

std::string EncodeNumber(uint64_t number);
std::optional<uint64_t> DecodeNumber(std::string_view bytes);

std::string IdKey(std::string_view tenant, std::string_view request_id);

// Of an entry that ended at `end`; with an empty `id_key` the first key of that time. Times before 1970 are 1970's
// first.
std::string RecordKey(absl::Time end, std::string_view id_key);
// The id within a record's key.
std::string_view IdKeyOf(std::string_view record_key);

// Where the hour that holds `time` begins.
absl::Time HourOf(absl::Time time);
// The first key of that hour.
std::string HourKey(absl::Time hour);
std::string HourKey(const UsageHour& hour);
// None when the bytes are not such a key.
std::optional<UsageHour> ParseHourKey(std::string_view key);

absl::Time EndOf(const v1::UsageEntry& entry);
UsageHour HourOf(const v1::UsageEntry& entry);

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_KEYS_H_
