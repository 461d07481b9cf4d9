#include "gateway/services/prefix_convert.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "gateway/errors/error_details.h"
#include "gateway/services/convert.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

constexpr int kDefaultPageSize = 100;
constexpr int kMaxPageSize = 1000;
constexpr std::string_view kOwnPage = "tenant/";
constexpr std::string_view kPublicPage = "public/";

bool MayBeInId(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-'; }

// Where a prefix stands in the list.
struct PageKey {
  bool is_public = false;
  std::string id;
  friend auto operator<=>(const PageKey&, const PageKey&) = default;
};

PageKey KeyOf(const CachedPrefix& prefix) { return {prefix.scope.is_public(), prefix.id}; }

std::string ToToken(const PageKey& key) { return fmt::format("{}{}", key.is_public ? kPublicPage : kOwnPage, key.id); }

absl::StatusOr<PageKey> ParseToken(std::string_view token) {
  for (const std::string_view page : {kOwnPage, kPublicPage}) {
    if (token.starts_with(page)) return PageKey{page == kPublicPage, std::string(token.substr(page.size()))};
  }
  return InvalidField("page_token", "is not one that ListPrefixes gave");
}

int PageSize(const v1::ListPrefixesRequest& request) {
  return request.page_size() == 0 ? kDefaultPageSize : std::min(request.page_size(), kMaxPageSize);
}

}  // namespace

absl::Status CheckPrefixId(const std::string& id) {
  if (id.empty()) return InvalidField("id", "is empty; name the prefix");
  if (id.size() > kMaxPrefixIdBytes) {
    return OverLimit("id", fmt::format("has {} bytes; at most {} are taken", id.size(), kMaxPrefixIdBytes));
  }
  if (std::ranges::all_of(id, MayBeInId)) return absl::OkStatus();
  return InvalidField("id", "has a character other than letters, digits, '.', '_' and '-'");
}

absl::Status CheckPrefixScope(v1::PrefixScope scope) {
  if (v1::PrefixScope_IsValid(scope)) return absl::OkStatus();
  return InvalidField("scope", fmt::format("is {}, which is none; it is TENANT or PUBLIC", static_cast<int>(scope)));
}

Scope ToScope(v1::PrefixScope scope, const Caller& caller) {
  return scope == v1::PREFIX_SCOPE_PUBLIC ? Scope::Public() : Scope::Tenant(caller.tenant);
}

absl::StatusOr<absl::Time> ExpiryOf(const v1::CreatePrefixRequest& request, absl::Time now) {
  if (request.has_ttl()) return ParseExpiry("ttl", request.ttl(), now);
  if (request.has_expire_time()) return ParseExpiry("expire_time", request.expire_time(), now);
  return absl::InfiniteFuture();
}

absl::StatusOr<absl::Time> ExpiryOf(const v1::UpdatePrefixRequest& request, absl::Time now) {
  if (request.has_ttl()) return ParseExpiry("ttl", request.ttl(), now);
  if (request.has_expire_time()) return ParseExpiry("expire_time", request.expire_time(), now);
  if (request.has_no_expiry()) return absl::InfiniteFuture();
  return InvalidField("expiration", "is not set; give one of ttl, expire_time or no_expiry");
}

v1::Prefix ToPrefix(const CachedPrefix& prefix) {
  v1::Prefix result;
  result.set_id(prefix.id);
  result.set_scope(prefix.scope.is_public() ? v1::PREFIX_SCOPE_PUBLIC : v1::PREFIX_SCOPE_TENANT);
  result.set_display_name(prefix.display_name);
  Set(prefix.created, result.mutable_create_time());
  if (prefix.expires != absl::InfiniteFuture()) Set(prefix.expires, result.mutable_expire_time());
  result.set_tokens(prefix.tokens);
  result.set_pinned_tokens(prefix.pinned_tokens);
  *result.mutable_tokens_by_tier() = ToTiers(prefix.by_tier);
  return result;
}

absl::Status CheckPage(const v1::ListPrefixesRequest& request) {
  if (request.page_size() < 0) {
    return InvalidField("page_size",
                        fmt::format("is {}; it is at least 1, or 0 for {}", request.page_size(), kDefaultPageSize));
  }
  return request.page_token().empty() ? absl::OkStatus() : ParseToken(request.page_token()).status();
}

absl::StatusOr<v1::ListPrefixesResponse> ToPage(const v1::ListPrefixesRequest& request,
                                                std::vector<CachedPrefix> prefixes) {
  if (auto status = CheckPage(request); !status.ok()) return status;
  std::ranges::sort(prefixes, {}, KeyOf);
  auto from = prefixes.begin();
  if (!request.page_token().empty())
    from = std::ranges::upper_bound(prefixes, *ParseToken(request.page_token()), {}, KeyOf);
  const auto to = from + std::min<std::ptrdiff_t>(PageSize(request), prefixes.end() - from);
  v1::ListPrefixesResponse page;
  std::for_each(from, to, [&page](const CachedPrefix& prefix) { *page.add_prefixes() = ToPrefix(prefix); });
  if (to != prefixes.end()) page.set_next_page_token(ToToken(KeyOf(*std::prev(to))));
  return page;
}

}  // namespace headstart
