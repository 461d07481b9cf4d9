// RegisteredPrefix: a prefix that somebody gave a name, to have it kept on the device.
//
// Thread-safety: plain values.

#ifndef HEADSTART_PREFIX_STORE_REGISTRY_REGISTERED_PREFIX_H_
#define HEADSTART_PREFIX_STORE_REGISTRY_REGISTERED_PREFIX_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "prefix_store/types.h"

namespace headstart {

struct RegisteredPrefix {
  std::string id;  // unique in its scope
  Scope scope = Scope::Public();
  std::vector<TokenId> tokens = {};
  std::string display_name = {};
  absl::Time created = absl::UnixEpoch();  // wall clock; kept to the microsecond, as is the next
  absl::Time expires = absl::InfiniteFuture();

  friend bool operator==(const RegisteredPrefix&, const RegisteredPrefix&) = default;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REGISTRY_REGISTERED_PREFIX_H_
