#include "gateway/auth/key_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "gateway/accounting/money.h"
#include "gateway/yaml/yaml_fields.h"

namespace headstart {
namespace {

constexpr size_t kMaxNameBytes = 128;

// Names go into logs, metrics and the account: nothing there has to be escaped.
bool IsName(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:@/").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kMaxNameBytes && std::ranges::all_of(text, is_plain);
}

absl::StatusOr<std::string> NameOf(const YamlFields& fields, std::string_view field) {
  auto name = fields.Text(field);
  if (name.ok() && !IsName(*name)) {
    return fields.Wrong(field, fmt::format("is not a name: 1 to {} letters, digits or -_.:@/", kMaxNameBytes));
  }
  return name;
}

absl::StatusOr<Caller> CallerOf(const YamlFields& fields) {
  auto id = NameOf(fields, "id");
  if (!id.ok()) return id.status();
  auto tenant = NameOf(fields, "tenant");
  if (!tenant.ok()) return tenant.status();
  const auto role = fields.Text("role", "user");
  if (!role.ok()) return role.status();
  if (*role != "user" && *role != "operator") return fields.Wrong("role", "is neither user nor operator");
  return Caller{.tenant = *std::move(tenant),
                .role = *role == "operator" ? Role::kOperator : Role::kTenant,
                .key_id = *std::move(id)};
}

absl::StatusOr<absl::Time> ExpiryOf(const YamlFields& fields) {
  const auto text = fields.Text("expires", "");
  if (!text.ok()) return text.status();
  absl::Time time = absl::InfiniteFuture();
  std::string error;
  if (text->empty() || absl::ParseTime(absl::RFC3339_full, *text, &time, &error)) return time;
  return fields.Wrong("expires", "is not a time such as 2027-01-31T00:00:00Z");
}

absl::StatusOr<KeyEntry> KeyOf(const YAML::Node& node, std::string what) {
  auto fields = YamlFields::Of(node, std::move(what), {"id", "tenant", "role", "sha256", "expires"});
  if (!fields.ok()) return fields.status();
  auto caller = CallerOf(*fields);
  if (!caller.ok()) return caller.status();
  const auto hex = fields->Text("sha256");
  if (!hex.ok()) return hex.status();
  const auto digest = ParseDigest(*hex);
  if (!digest) return fields->Wrong("sha256", "is not the 64 hexadecimal digits of a key's SHA-256");
  const auto expires = ExpiryOf(*fields);
  if (!expires.ok()) return expires.status();
  return KeyEntry{.caller = *std::move(caller), .digest = *digest, .expires = *expires};
}

absl::StatusOr<CertificateName> CertificateNameOf(const YamlFields& fields) {
  const auto common_name = fields.Text("subject_common_name", "");
  if (!common_name.ok()) return common_name.status();
  const auto uri = fields.Text("san_uri", "");
  if (!uri.ok()) return uri.status();
  if (common_name->empty() == uri->empty()) {
    return fields.Wrong("id", "has a certificate with neither or both of subject_common_name and san_uri; give one");
  }
  if (uri->empty()) return CertificateName{.kind = CertificateNameKind::kCommonName, .value = *common_name};
  return CertificateName{.kind = CertificateNameKind::kUri, .value = *uri};
}

absl::StatusOr<std::optional<int64_t>> LimitOf(const YamlFields& fields, std::string_view field) {
  const auto text = fields.Text(field, "");
  if (!text.ok()) return text.status();
  if (text->empty()) return std::optional<int64_t>();
  const auto nanos = ParseNanos(*text);
  if (!nanos.ok()) return fields.Wrong(field, "is not an amount such as 12 or 0.25, with at most 9 decimals");
  return *nanos;
}

absl::StatusOr<TenantBudget> BudgetOf(const YAML::Node& node, std::string what) {
  auto fields = YamlFields::Of(node, std::move(what), {"period", "currency", "soft", "hard"});
  if (!fields.ok()) return fields.status();
  const auto period = fields->Text("period", "month");
  if (!period.ok()) return period.status();
  if (*period != "day" && *period != "month") return fields->Wrong("period", "is neither day nor month");
  const auto currency = fields->Text("currency");
  if (!currency.ok()) return currency.status();
  const auto soft = LimitOf(*fields, "soft");
  if (!soft.ok()) return soft.status();
  const auto hard = LimitOf(*fields, "hard");
  if (!hard.ok()) return hard.status();
  if (!*soft && !*hard) return fields->Wrong("hard", "is missing, and so is soft: a budget has one of them at least");
  if (*soft && *hard && **soft > **hard) return fields->Wrong("soft", "is above hard");
  return TenantBudget{.period = *period == "day" ? BudgetPeriod::kDay : BudgetPeriod::kMonth,
                      .currency = *currency,
                      .soft_nanos = *soft,
                      .hard_nanos = *hard};
}

}  // namespace

// One pass over a document; what it finds goes into the table.
class KeyTableParser {
 public:
  absl::StatusOr<KeyTable> Run(const YAML::Node& root) {
    if (root.IsNull()) {
      return absl::InvalidArgumentError(
          "it is empty; a file in which nobody has a key says so with the line \"keys:\"");
    }
    auto fields = YamlFields::Of(root, "the file", {"keys", "certificates", "tenants"});
    if (!fields.ok()) return fields.status();
    if (auto status = AddKeys(*fields); !status.ok()) return status;
    if (auto status = AddCertificates(*fields); !status.ok()) return status;
    if (auto status = AddTenants(*fields); !status.ok()) return status;
    return std::move(table_);
  }

 private:
  absl::Status AddKeys(const YamlFields& fields) {
    const auto list = fields.List("keys");
    if (!list.ok()) return list.status();
    for (const YAML::Node& node : *list) {
      auto key = KeyOf(node, fmt::format("keys[{}]", table_.keys_.size()));
      if (!key.ok()) return key.status();
      if (auto status = TakeId(node, key->caller.key_id); !status.ok()) return status;
      if (!table_.index_.emplace(key->digest, table_.keys_.size()).second) {
        return ErrorAt(node, fmt::format("key \"{}\" has the sha256 of another key", key->caller.key_id));
      }
      tenants_.insert(key->caller.tenant);
      table_.keys_.push_back(*std::move(key));
    }
    return absl::OkStatus();
  }

  absl::Status AddCertificates(const YamlFields& fields) {
    const auto list = fields.List("certificates");
    if (!list.ok()) return list.status();
    for (const YAML::Node& node : *list) {
      if (auto status = AddCertificate(node); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddCertificate(const YAML::Node& node) {
    const auto fields = YamlFields::Of(node, fmt::format("certificates[{}]", table_.certificates_.size()),
                                       {"id", "tenant", "role", "subject_common_name", "san_uri"});
    if (!fields.ok()) return fields.status();
    auto caller = CallerOf(*fields);
    if (!caller.ok()) return caller.status();
    auto name = CertificateNameOf(*fields);
    if (!name.ok()) return name.status();
    if (auto status = TakeId(node, caller->key_id); !status.ok()) return status;
    tenants_.insert(caller->tenant);
    if (table_.certificates_.emplace(*std::move(name), *std::move(caller)).second) return absl::OkStatus();
    return ErrorAt(node, "another entry names the same certificate");
  }

  absl::Status AddTenants(const YamlFields& fields) {
    const auto node = fields.Find("tenants");
    if (!node) return absl::OkStatus();
    const auto tenants = YamlFields::Of(*node, "tenants", {});
    if (!tenants.ok()) return tenants.status();
    for (const auto& [name, settings] : tenants->fields()) {
      if (auto status = AddTenant(name, settings); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status AddTenant(const std::string& name, const YAML::Node& settings) {
    const auto fields = YamlFields::Of(settings, fmt::format("tenants.{}", name), {"budget"});
    if (!fields.ok()) return fields.status();
    if (const auto node = fields->Find("budget")) {
      auto budget = BudgetOf(*node, fmt::format("tenants.{}.budget", name));
      if (!budget.ok()) return budget.status();
      table_.budgets_.emplace(name, *std::move(budget));
    }
    if (!tenants_.contains(name)) {
      const auto warning = ErrorAt(settings, fmt::format("tenant \"{}\" has settings and no key", name));
      table_.warnings_.emplace_back(warning.message());
    }
    return absl::OkStatus();
  }

  absl::Status TakeId(const YAML::Node& node, const std::string& id) {
    if (ids_.insert(id).second) return absl::OkStatus();
    return ErrorAt(node, fmt::format("the id \"{}\" is there twice", id));
  }

  KeyTable table_;
  std::set<std::string> ids_;
  std::set<std::string> tenants_;
};

absl::StatusOr<KeyTable> KeyTable::Parse(const std::string& text) {
  const auto root = ParseYaml(text);
  if (!root.ok()) return root.status();
  return KeyTableParser().Run(*root);
}

const KeyEntry* KeyTable::FindKey(const KeyDigest& digest) const {
  static constexpr KeyDigest kNobodys = {};
  const auto found = index_.find(digest);
  // An unknown key is compared, too.
  const bool is_equal = EqualInConstantTime(digest, found == index_.end() ? kNobodys : found->first);
  return found != index_.end() && is_equal ? &keys_[found->second] : nullptr;
}

const Caller* KeyTable::FindCertificate(const CertificateName& name) const {
  const auto found = certificates_.find(name);
  return found == certificates_.end() ? nullptr : &found->second;
}

std::optional<TenantBudget> KeyTable::BudgetOf(const std::string& tenant) const {
  const auto found = budgets_.find(tenant);
  if (found == budgets_.end()) return std::nullopt;
  return found->second;
}

}  // namespace headstart
