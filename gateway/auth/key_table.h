// KeyTable: what a file of API keys says: which credential is whose, and what each tenant may spend. docs/security.md
// describes the file.
//
//   keys:
//     - {id: ci, tenant: acme, sha256: 9f86d081..., expires: 2027-01-01T00:00:00Z}
//     - {id: ops, tenant: platform, role: operator, sha256: 60303ae2...}
//   certificates:
//     - {id: billing, tenant: acme, san_uri: "spiffe://example.org/billing"}
//   tenants:
//     acme: {budget: {period: month, currency: USD, soft: 80, hard: 100.00}}
//
// Thread-safety: const methods may be called from any thread.
// Errors: INVALID_ARGUMENT naming the line, of whatever is not understood: a field that is misspelt could be the one
// that takes a right away.

#ifndef HEADSTART_GATEWAY_AUTH_KEY_TABLE_H_
#define HEADSTART_GATEWAY_AUTH_KEY_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gateway/accounting/budget.h"
#include "gateway/auth/api_key.h"
#include "gateway/auth/authenticator.h"

namespace headstart {

struct KeyEntry {
  Caller caller;
  KeyDigest digest;
  absl::Time expires = absl::InfiniteFuture();  // from then on it is refused
};

class KeyTable {
 public:
  static absl::StatusOr<KeyTable> Parse(const std::string& text);

  // Null when no key has that digest. Valid while the table lives.
  const KeyEntry* FindKey(const KeyDigest& digest) const;

  // Null when no entry names that certificate.
  const Caller* FindCertificate(const CertificateName& name) const;

  std::optional<TenantBudget> BudgetOf(const std::string& tenant) const;

  const std::vector<KeyEntry>& keys() const { return keys_; }  // in the file's order
  const std::map<CertificateName, Caller>& certificates() const { return certificates_; }
  const std::map<std::string, TenantBudget>& budgets() const { return budgets_; }

  // What is allowed and probably not meant, with its line.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class KeyTableParser;

  std::vector<KeyEntry> keys_;
  std::unordered_map<KeyDigest, size_t, KeyDigestHash> index_;
  std::map<CertificateName, Caller> certificates_;
  std::map<std::string, TenantBudget> budgets_;
  std::vector<std::string> warnings_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_KEY_TABLE_H_
