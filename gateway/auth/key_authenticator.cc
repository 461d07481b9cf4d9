#include "gateway/auth/key_authenticator.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"

namespace headstart {
namespace {

constexpr std::string_view kScheme = "bearer";
constexpr std::string_view kHow = "send \"authorization: Bearer <key>\" or \"x-api-key: <key>\"";

absl::Status Refused(const std::string& why, std::string_view reason) {
  return WithReason(absl::UnauthenticatedError(why), reason);
}

bool EqualIgnoringCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

// The key of an `authorization` field; nullopt when it is of another kind.
std::optional<std::string_view> BearerKey(std::string_view value) {
  const size_t space = value.find(' ');
  if (space == std::string_view::npos || !EqualIgnoringCase(value.substr(0, space), kScheme)) return std::nullopt;
  const size_t begin = value.find_first_not_of(' ', space);
  if (begin == std::string_view::npos) return std::nullopt;
  return value.substr(begin);
}

// The one key that a call shows; nullopt without any.
absl::StatusOr<std::optional<std::string_view>> ShownKey(const CallIdentity& call) {
  std::optional<std::string_view> shown;
  for (const auto& [field, value] : call.metadata) {
    if (field != "authorization" && field != "x-api-key") continue;
    const std::optional<std::string_view> key = field == "x-api-key" ? value : BearerKey(value);
    if (!key || key->empty()) {
      return Refused(fmt::format("the call's {} holds no API key; {}", field, kHow), "CREDENTIAL_INVALID");
    }
    if (shown && *shown != *key) return Refused("the call shows two different API keys", "CREDENTIAL_INVALID");
    shown = key;
  }
  return shown;
}

}  // namespace

absl::StatusOr<Caller> KeyAuthenticator::Authenticate(const CallIdentity& call) const {
  const auto key = ShownKey(call);
  if (!key.ok()) {
    ++invalid_;
    return key.status();
  }
  return *key ? CallerWithKey(**key) : CallerWithCertificate(call);
}

absl::StatusOr<Caller> KeyAuthenticator::CallerWithKey(std::string_view key) const {
  const auto table = keys_.current();
  const KeyEntry* entry = table->FindKey(DigestOf(key));
  if (entry == nullptr) {
    ++invalid_;
    return Refused("the API key is not one of this server's; it may have been revoked", "CREDENTIAL_INVALID");
  }
  if (now_() >= entry->expires) {
    ++expired_;
    return Refused(fmt::format("the API key \"{}\" expired at {}; ask for a new one", entry->caller.key_id,
                               absl::FormatTime(absl::RFC3339_sec, entry->expires, absl::UTCTimeZone())),
                   "CREDENTIAL_EXPIRED");
  }
  return entry->caller;
}

absl::StatusOr<Caller> KeyAuthenticator::CallerWithCertificate(const CallIdentity& call) const {
  const auto table = keys_.current();
  for (const CertificateName& name : call.certificate_names) {
    if (const Caller* caller = table->FindCertificate(name)) return *caller;
  }
  ++missing_;
  return call.certificate_names.empty()
             ? Refused(fmt::format("the call shows no API key; {}", kHow), "CREDENTIAL_MISSING")
             : Refused(fmt::format("the call shows no API key, and its client certificate is nobody's here; {}", kHow),
                       "CREDENTIAL_MISSING");
}

AuthenticationFailures KeyAuthenticator::failures() const {
  return {.missing = missing_, .invalid = invalid_, .expired = expired_};
}

}  // namespace headstart
