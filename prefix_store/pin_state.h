// PinState: what a PinnedPrefix stands for. See prefix_store.h for its contract.

#ifndef HEADSTART_PREFIX_STORE_PIN_STATE_H_
#define HEADSTART_PREFIX_STORE_PIN_STATE_H_

#include <cstdint>
#include <vector>

#include "prefix_store/types.h"

namespace headstart {

class PrefixStoreCore;

struct PinState {
  PrefixStoreCore* store = nullptr;
  std::vector<BlockId> blocks;  // in token order, each leased once; the last may be a tail
  int64_t tokens = 0;           // of the prefix that they hold
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_PIN_STATE_H_
