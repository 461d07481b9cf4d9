// A digest of what a request asks: equal for a request that is tried again, and different, as good as always, for
// another one, also of another kind.
//
// Thread-safety: free functions. Their value lives in the account: it is the same in every version of the program.

#ifndef HEADSTART_GATEWAY_SERVICES_REQUEST_DIGEST_H_
#define HEADSTART_GATEWAY_SERVICES_REQUEST_DIGEST_H_

#include <cstdint>
#include <span>

#include "headstart/v1/inference.pb.h"
#include "headstart/v1/prefix.pb.h"
#include "prefix_store/types.h"

namespace headstart {

// Of the prompt's tokens and of how to answer them. Labels, cache control and request_id are not part of it.
uint64_t DigestOf(const v1::GenerateRequest& request, std::span<const TokenId> prompt);

// Of the prefix's tokens, and whose it is under which name. How long it is kept is not part of it.
uint64_t DigestOf(const v1::CreatePrefixRequest& request, std::span<const TokenId> prefix);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_REQUEST_DIGEST_H_
