// Sizes as people write them: "2GiB", "512 MiB", "4096".

#ifndef HEADSTART_GATEWAY_CONFIG_BYTE_SIZE_H_
#define HEADSTART_GATEWAY_CONFIG_BYTE_SIZE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace headstart {

// A number, with a fraction if it has a unit, then B, KiB, MiB, GiB or TiB (powers of 1024), or KB, MB, GB, TB (powers
// of 1000). INVALID_ARGUMENT saying what is wrong with it.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text);

// The largest unit of 1024 that divides it exactly: 1073741824 is "1GiB", 1500 is "1500B".
std::string FormatByteSize(int64_t bytes);

// Rounded for reading: "257.1 MiB".
std::string ReadableByteSize(int64_t bytes);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_CONFIG_BYTE_SIZE_H_
