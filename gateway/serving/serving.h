// Serving: a server as `headstart serve` runs it: keys, certificates and prices from files that are watched, an
// account, metrics, a dashboard, and the host that serves an engine with all of it.
//
// Thread-safety: every method may be called from any thread, except destruction.
// Ownership: owns everything it puts together; borrows the logger, which outlives it. Destruction cancels what runs,
// and then writes what the account still has to. Errors: Check and Start say which flag or file is wrong, where, and
// what to do.
//
//   if (auto status = Serving::Check(options); !status.ok()) ...    // before a model is loaded
//   auto serving = Serving::Start(*std::move(engine), options, logger);
//   (*serving)->host().Drain(...);

#ifndef HEADSTART_GATEWAY_SERVING_SERVING_H_
#define HEADSTART_GATEWAY_SERVING_SERVING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gateway/accounting/price_book.h"
#include "gateway/auth/authenticator.h"
#include "gateway/auth/key_authenticator.h"
#include "gateway/auth/key_file.h"
#include "gateway/config/account_flags.h"
#include "gateway/config/auth_flags.h"
#include "gateway/config/telemetry_flags.h"
#include "gateway/dashboard/activity.h"
#include "gateway/files/ticker.h"
#include "gateway/ledger/ledger_accountant.h"
#include "gateway/ledger/storage_meter.h"
#include "gateway/server/request_log.h"
#include "gateway/serving/observers.h"
#include "gateway/serving/service_host.h"
#include "gateway/telemetry/auth_metrics.h"
#include "gateway/telemetry/call_metrics.h"
#include "gateway/telemetry/request_metrics.h"
#include "gateway/tls/tls_files.h"
#include "spdlog/logger.h"

namespace headstart {

struct ServingOptions {
  ServiceHostOptions host = {.http = {}};
  AuthFlags auth;
  TelemetryFlags telemetry;
  AccountFlags account;
};

class Serving {
 public:
  // What needs no engine: flags that go together, files that can be read, addresses that are free.
  static absl::Status Check(const ServingOptions& options);

  static absl::StatusOr<std::unique_ptr<Serving>> Start(std::unique_ptr<Engine> engine, const ServingOptions& options,
                                                        spdlog::logger& logger);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  ServiceHost& host() { return *host_; }

  // Looks for changes of keys, certificates and prices now rather than within a second.
  void ReadFilesAnew() { file_ticker_->TickNow(); }

 private:
  Serving(const ServingOptions& options, spdlog::logger& logger);

  absl::Status OpenFiles(const std::string& model_name);
  void RefreshFiles();
  absl::Status OpenAccount();
  absl::Status StartHost(std::unique_ptr<Engine> engine);
  void SettleStorage();
  void StartTickers();
  TlsSource TlsOrNone() const;
  void Log(const std::string& event) { logger_.warn("{}", event); }

  ServingOptions options_;
  spdlog::logger& logger_;
  std::unique_ptr<KeyFile> keys_;         // null: open to everyone who can reach it
  std::unique_ptr<TlsFiles> tls_;         // null: in the clear
  std::unique_ptr<LoadedPrices> prices_;  // null: nothing costs
  absl::Status budgets_;                  // what was last said of them; the file ticker's alone once it runs
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<AuthMetrics> auth_metrics_;
  CallMetrics call_metrics_;
  Activity activity_;
  RequestMetrics metrics_;
  RequestLog request_log_;
  RequestObservers request_observers_;
  BillingObservers billing_observers_;
  std::unique_ptr<LedgerAccountant> accountant_;
  std::unique_ptr<ServiceHost> host_;
  std::shared_ptr<StorageMeter> storage_meter_;
  std::unique_ptr<Ticker> file_ticker_;
  std::unique_ptr<Ticker> storage_ticker_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVING_SERVING_H_
