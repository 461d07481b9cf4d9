// KeyFile: a KeyTable in a file that may change while the server runs: keys come, go and expire without a restart, and
// budgets with them. A version that is wrong does not take the place of the last good one.
//
// Thread-safety: every method may be called from any thread.
// Errors: Open gives what reading or KeyTable::Parse says, with the path; later ones are told to `on_news`.
//
//   auto keys = KeyFile::Open("keys.yaml", on_news);
//   KeyAuthenticator authenticator(**keys);
//   Ticker ticker([&] { (*keys)->Refresh(); }, absl::Seconds(1));

#ifndef HEADSTART_GATEWAY_AUTH_KEY_FILE_H_
#define HEADSTART_GATEWAY_AUTH_KEY_FILE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "gateway/accounting/budget.h"
#include "gateway/auth/key_table.h"
#include "gateway/files/watched_files.h"

namespace headstart {

class KeyFile final : public BudgetSource, public Refreshable {
 public:
  static absl::StatusOr<std::unique_ptr<KeyFile>> Open(const std::string& path, OnFileNews on_news);

  // Never null; stays valid while it is held.
  std::shared_ptr<const KeyTable> current() const { return file_->current(); }

  std::optional<TenantBudget> BudgetOf(const std::string& tenant) const override { return current()->BudgetOf(tenant); }
  void Refresh() override { file_->Refresh(); }

 private:
  explicit KeyFile(std::unique_ptr<WatchedFiles<KeyTable>> file) : file_(std::move(file)) {}

  std::unique_ptr<WatchedFiles<KeyTable>> file_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_KEY_FILE_H_
