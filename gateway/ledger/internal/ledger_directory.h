// LedgerDirectory: a directory that is one ledger's alone while this lives: a marker says what it is and in which
// format, a lock keeps other processes away.
//
// Thread-safety: Claim from any thread; const methods from any thread.
// Ownership: `env` outlives it. Nothing in a directory that is not a ledger's is ever written.

#ifndef HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DIRECTORY_H_
#define HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DIRECTORY_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gateway/ledger/internal/file_identity.h"
#include "rocksdb/env.h"

namespace headstart::ledger_internal {

inline constexpr int kLedgerFormat = 1;

class LedgerDirectory {
 public:
  // Takes `path`, creating it when its parent is there. FAILED_PRECONDITION, saying what to do, when it is in use, is
  // not a ledger's or has a newer format; UNAVAILABLE when I/O fails.
  static absl::StatusOr<std::unique_ptr<LedgerDirectory>> Claim(rocksdb::Env& env, const std::string& path,
                                                                IdentifyFile identify);

  ~LedgerDirectory();
  LedgerDirectory(const LedgerDirectory&) = delete;
  LedgerDirectory& operator=(const LedgerDirectory&) = delete;

  // False once the path leads to another directory than the one that was claimed, or to none.
  bool in_place() const { return identity_ && identify_(lock_path()) == identity_; }
  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/entries"; }

 private:
  LedgerDirectory(rocksdb::Env& env, std::string path, IdentifyFile identify)
      : env_(env), path_(std::move(path)), identify_(std::move(identify)) {}

  std::string lock_path() const { return path_ + "/LOCK"; }
  absl::Status CheckOurs() const;
  absl::Status Lock();
  absl::Status CheckFormat() const;
  absl::Status WriteMarker() const;

  rocksdb::Env& env_;
  const std::string path_;
  const IdentifyFile identify_;
  rocksdb::FileLock* lock_ = nullptr;
  std::optional<FileIdentity> identity_;  // of the lock's file, which is open while it is locked
};

}  // namespace headstart::ledger_internal

#endif  // HEADSTART_GATEWAY_LEDGER_INTERNAL_LEDGER_DIRECTORY_H_
