#include "gateway/serving/serving.h"

#include <chrono>
#include <future>
#include <utility>

#include "fmt/format.h"
#include "gateway/files/file_version.h"
#include "gateway/server/listen_address.h"
#include "gateway/serving/check_budgets.h"

namespace headstart {
namespace {

constexpr absl::Duration kLookForChangesEvery = absl::Seconds(1);
constexpr absl::Duration kMeterStorageEvery = absl::Minutes(1);

absl::Status CheckExposure(const ServingOptions& options, const std::string& listen, const std::string& flag) {
  if (listen.empty() || !options.auth.uses_keys()) return absl::OkStatus();
  auto address = ParseListenAddress(listen);
  if (!address.ok()) return address.status();
  return CheckExposure(options.auth, *address, flag);
}

absl::Status CheckBudgetsOf(const KeyFile* keys, const LoadedPrices* prices) {
  if (keys == nullptr) return absl::OkStatus();
  return CheckBudgets(*keys->current(), prices == nullptr ? nullptr : prices->current().get());
}

absl::Status CheckFiles(const ServingOptions& options) {
  const auto ignore = [](FileNews, const std::string&) {};
  std::unique_ptr<KeyFile> keys;
  if (options.auth.uses_keys()) {
    auto opened = KeyFile::Open(options.auth.keys_file, ignore);
    if (!opened.ok()) return opened.status();
    keys = *std::move(opened);
  }
  if (options.auth.uses_tls()) {
    if (auto tls = TlsFiles::Open(options.auth.tls, ignore); !tls.ok()) return tls.status();
  }
  std::unique_ptr<LoadedPrices> prices;
  if (!options.account.prices_file.empty()) {
    auto opened = LoadedPrices::Open({options.account.prices_file}, PriceBookParser(""), ignore);
    if (!opened.ok()) return opened.status();
    prices = *std::move(opened);
  }
  return CheckBudgetsOf(keys.get(), prices.get());
}

// Flags alone; no file is read, no address tried.
absl::Status CheckFlags(const ServingOptions& options) {
  if (auto status = CheckAuthFlags(options.auth); !status.ok()) return status;
  if (options.account.keep_sum_days < options.account.keep_record_days) {
    return absl::InvalidArgumentError(
        fmt::format("--ledger-keep-sum-days is {} and --ledger-keep-record-days {}; sums are kept at least as long",
                    options.account.keep_sum_days, options.account.keep_record_days));
  }
  if (auto status = CheckExposure(options, options.host.grpc.listen, "--listen"); !status.ok()) return status;
  return CheckExposure(options, options.host.http.listen, "--http-listen");
}

// Budgets need the account, so a server that was told to keep one does not start without.
absl::Status WhatToDoWithoutLedger(const absl::Status& status) {
  if (!absl::IsUnavailable(status)) return status;
  return absl::UnavailableError(
      fmt::format("{}; make sure that the folder can be written to and has room, or start without --ledger-dir, which "
                  "keeps the account in memory until the server stops",
                  std::string(status.message())));
}

}  // namespace

absl::Status Serving::Check(const ServingOptions& options) {
  if (auto status = CheckFlags(options); !status.ok()) return status;
  if (auto status = CheckFiles(options); !status.ok()) return status;
  return ServiceHost::CheckOptions(options.host,
                                   options.auth.uses_keys() ? CallerAccess::kByCredential : CallerAccess::kOpen);
}

absl::StatusOr<std::unique_ptr<Serving>> Serving::Start(std::unique_ptr<Engine> engine, const ServingOptions& options,
                                                        spdlog::logger& logger) {
  // Files and addresses are met with below; a moment ago they may have been others.
  if (auto status = CheckFlags(options); !status.ok()) return status;
  std::unique_ptr<Serving> serving(new Serving(options, logger));
  const std::string& name = options.host.model_name.empty() ? engine->config().name : options.host.model_name;
  if (auto status = serving->OpenFiles(name); !status.ok()) return status;
  if (auto status = serving->OpenAccount(); !status.ok()) return status;
  if (auto status = serving->StartHost(std::move(engine)); !status.ok()) return status;
  serving->StartTickers();
  return serving;
}

Serving::Serving(const ServingOptions& options, spdlog::logger& logger)
    : options_(options),
      logger_(logger),
      metrics_(options.telemetry.metrics),
      request_log_(logger, options.telemetry.log_format),
      request_observers_({&activity_, &metrics_, &request_log_}),
      billing_observers_({&activity_, &metrics_}) {}

absl::Status Serving::OpenFiles(const std::string& model_name) {
  const auto on_news = [this](FileNews news, const std::string& sentence) {
    logger_.log(news == FileNews::kReadAnew ? spdlog::level::info : spdlog::level::warn, "{}", sentence);
  };
  if (options_.auth.uses_keys()) {
    auto keys = KeyFile::Open(options_.auth.keys_file, on_news);
    if (!keys.ok()) return keys.status();
    keys_ = *std::move(keys);
  }
  if (options_.auth.uses_tls()) {
    auto tls = TlsFiles::Open(options_.auth.tls, on_news);
    if (!tls.ok()) return tls.status();
    tls_ = *std::move(tls);
  }
  if (!options_.account.prices_file.empty()) {
    auto prices = LoadedPrices::Open({options_.account.prices_file}, PriceBookParser(model_name), on_news);
    if (!prices.ok()) return prices.status();
    prices_ = *std::move(prices);
  }
  return CheckBudgetsOf(keys_.get(), prices_.get());
}

// Keys and prices may change one after the other, so what no longer fits is said and not refused.
void Serving::RefreshFiles() {
  if (keys_) keys_->Refresh();
  if (tls_) tls_->Refresh();
  if (prices_) prices_->Refresh();
  absl::Status budgets = CheckBudgetsOf(keys_.get(), prices_.get());
  if (!budgets.ok() && budgets != budgets_) logger_.warn("{}", std::string(budgets.message()));
  budgets_ = std::move(budgets);
}

absl::Status Serving::OpenAccount() {
  if (options_.account.ledger_directory.empty()) {
    logger_.info("the usage account is kept in memory until the server stops; --ledger-dir keeps it for good");
  }
  auto accountant =
      LedgerAccountant::Open({.ledger = {.directory = options_.account.ledger_directory,
                                         .on_event = [this](const std::string& event) { Log(event); },
                                         .keep_records = absl::Hours(24) * options_.account.keep_record_days,
                                         .keep_hours = absl::Hours(24) * options_.account.keep_sum_days},
                              .prices = prices_.get(),
                              .budgets = keys_.get(),
                              .observer = &billing_observers_});
  if (!accountant.ok()) return WhatToDoWithoutLedger(accountant.status());
  accountant_ = *std::move(accountant);
  return absl::OkStatus();
}

TlsSource Serving::TlsOrNone() const {
  if (!tls_) return nullptr;
  return [this] { return tls_->current(); };
}

absl::Status Serving::StartHost(std::unique_ptr<Engine> engine) {
  ServiceHostOptions options = options_.host;
  options.grpc.tls = TlsOrNone();
  options.grpc.calls = &call_metrics_;
  options.open_metrics = options_.telemetry.open_metrics;
  options.http.tls = TlsOrNone();
  options.http.on_event = [this](const std::string& event) { Log(event); };
  std::vector<const prometheus::Collectable*> further_metrics = {&call_metrics_};
  if (keys_) {
    auto authenticator = std::make_unique<KeyAuthenticator>(*keys_);
    auth_metrics_ = std::make_unique<AuthMetrics>(*authenticator);
    further_metrics.push_back(auth_metrics_.get());
    authenticator_ = std::move(authenticator);
  } else {
    authenticator_ = OpenAuthenticator();
  }
  auto host = ServiceHost::Start(std::move(engine), options,
                                 {.authenticator = *authenticator_,
                                  .observer = request_observers_,
                                  .accountant = *accountant_,
                                  .ledger = &accountant_->ledger(),
                                  .activity = &activity_,
                                  .metrics = &metrics_,
                                  .further_metrics = std::move(further_metrics)});
  if (!host.ok()) return host.status();
  host_ = *std::move(host);
  return absl::OkStatus();
}

void Serving::StartTickers() {
  storage_meter_ =
      StorageMeter::Create({.model = host_->model_name(),
                            .prefixes = [this](auto done) { host_->engine().ListAllPrefixes(std::move(done)); },
                            .record = [this](const StorageRecord& record) { accountant_->RecordStorage(record); },
                            .now = absl::Now});
  file_ticker_ = std::make_unique<Ticker>([this] { RefreshFiles(); }, kLookForChangesEvery);
  storage_ticker_ = std::make_unique<Ticker>([this] { storage_meter_->Tick(); }, kMeterStorageEvery);
}

// The engine tells once more which prefixes there are, between two steps.
void Serving::SettleStorage() {
  constexpr auto kPatience = std::chrono::seconds(5);
  auto settled = std::make_shared<std::promise<void>>();
  std::future<void> end = settled->get_future();
  storage_meter_->Settle([settled] { settled->set_value(); });
  end.wait_for(kPatience);
}

// What was kept up to now is recorded while the engine can still be asked; then the host ends, and the account last.
Serving::~Serving() {
  storage_ticker_.reset();
  file_ticker_.reset();
  if (storage_meter_) SettleStorage();
  host_.reset();
}

}  // namespace headstart
