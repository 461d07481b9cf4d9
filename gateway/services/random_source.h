// RandomSource: seeds and request ids.

#ifndef HEADSTART_GATEWAY_SERVICES_RANDOM_SOURCE_H_
#define HEADSTART_GATEWAY_SERVICES_RANDOM_SOURCE_H_

#include <cstdint>
#include <functional>

namespace headstart {

// Any thread may call it.
using RandomSource = std::function<uint64_t()>;

// Seeded by the operating system.
RandomSource SystemRandom();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_RANDOM_SOURCE_H_
