// TlsFiles: a TlsMaterial in files that may be replaced while the server runs, checked before it is used: certificates
// parse, the key is the first one's, and the dates are told when they are past.
//
// Thread-safety: every method may be called from any thread.
// Errors: INVALID_ARGUMENT, or what reading says, naming the file and why. Later ones are told to `on_news`, and the
// last good version stays: new files that come one after the other are wrong for a moment, and then right.
//
//   auto tls = TlsFiles::Open({.certificate = "tls.crt", .private_key = "tls.key"}, on_news);
//   Ticker ticker([&] { (*tls)->Refresh(); }, absl::Seconds(1));
//   GrpcServerOptions options{.tls = [&] { return (*tls)->current(); }};

#ifndef HEADSTART_GATEWAY_TLS_TLS_FILES_H_
#define HEADSTART_GATEWAY_TLS_TLS_FILES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gateway/files/watched_files.h"
#include "gateway/tls/tls_material.h"

namespace headstart {

struct TlsFileNames {
  std::string certificate;  // PEM, the server's own first, then those that lead to its root
  std::string private_key;  // PEM, without a passphrase
  std::string client_ca;    // PEM; empty: clients are not asked for a certificate
  bool require_client_certificate = false;
};

// What is wrong with the material, in the words of `names`; OK when a server can use it. `warnings` hears of
// certificates that are not valid at `now`: clocks may be wrong, and refusing would leave no server.
absl::Status CheckTlsMaterial(const TlsMaterial& material, const TlsFileNames& names, absl::Time now,
                              std::vector<std::string>& warnings);

class TlsFiles final : public Refreshable {
 public:
  static absl::StatusOr<std::unique_ptr<TlsFiles>> Open(const TlsFileNames& names, OnFileNews on_news,
                                                        std::function<absl::Time()> now = absl::Now);

  // Never null; stays valid while it is held.
  std::shared_ptr<const TlsMaterial> current() const { return files_->current(); }
  void Refresh() override { files_->Refresh(); }

 private:
  explicit TlsFiles(std::unique_ptr<WatchedFiles<TlsMaterial>> files) : files_(std::move(files)) {}

  std::unique_ptr<WatchedFiles<TlsMaterial>> files_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_TLS_TLS_FILES_H_
