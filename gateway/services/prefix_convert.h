// Registered prefixes between the API and the engine: names, scopes, expiries and pages.
//
// Thread-safety: free functions over values.
// Errors: INVALID_ARGUMENT naming the field, with BadRequest details.

#ifndef HEADSTART_GATEWAY_SERVICES_PREFIX_CONVERT_H_
#define HEADSTART_GATEWAY_SERVICES_PREFIX_CONVERT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/cached_prefix.h"
#include "gateway/auth/authenticator.h"
#include "headstart/v1/prefix.pb.h"

namespace headstart {

inline constexpr int kMaxPrefixIdBytes = 128;
inline constexpr int kMaxDisplayNameBytes = 256;

// An id that a prefix may have.
absl::Status CheckPrefixId(const std::string& id);

absl::Status CheckPrefixScope(v1::PrefixScope scope);

// The caller's own scope, or the public one. Nothing else can be asked for.
Scope ToScope(v1::PrefixScope scope, const Caller& caller);

// Of a new prefix: without an expiry, the end of time.
absl::StatusOr<absl::Time> ExpiryOf(const v1::CreatePrefixRequest& request, absl::Time now);

// INVALID_ARGUMENT when none is set.
absl::StatusOr<absl::Time> ExpiryOf(const v1::UpdatePrefixRequest& request, absl::Time now);

v1::Prefix ToPrefix(const CachedPrefix& prefix);

// The page that `request` asks for: those of a tenant before the public ones, by id. A page begins after the last
// prefix of the page before, so that what is created or deleted meanwhile neither repeats nor hides another.
absl::StatusOr<v1::ListPrefixesResponse> ToPage(const v1::ListPrefixesRequest& request,
                                                std::vector<CachedPrefix> prefixes);

// The check of ToPage that needs no prefixes.
absl::Status CheckPage(const v1::ListPrefixesRequest& request);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVICES_PREFIX_CONVERT_H_
