// LedgerAccountant: the Accountant that keeps an account: prices, budgets and a ledger.
//
// Thread-safety: as Accountant. Destruction when no other call is under way; it writes what waits.
// Ownership: owns the ledger; borrows prices, budgets and observer, which outlive it.
// Errors, besides Accountant's: Open gives the ledger's.
//
//   auto accountant = LedgerAccountant::Open({.ledger = {.directory = dir}, .prices = prices.get()});

#ifndef HEADSTART_GATEWAY_LEDGER_LEDGER_ACCOUNTANT_H_
#define HEADSTART_GATEWAY_LEDGER_LEDGER_ACCOUNTANT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gateway/accounting/accountant.h"
#include "gateway/accounting/budget.h"
#include "gateway/accounting/price_book.h"
#include "gateway/ledger/billing_observer.h"
#include "gateway/ledger/ledger.h"
#include "gateway/ledger/spend.h"
#include "gateway/ledger/storage_meter.h"

namespace headstart {

struct LedgerAccountantOptions {
  LedgerOptions ledger = {};              // `listener` is the accountant's own
  const LoadedPrices* prices = nullptr;   // null: nothing costs, and amounts have no currency
  const BudgetSource* budgets = nullptr;  // null: nobody has one
  BillingObserver* observer = nullptr;
  int max_attempts = 16;  // of one request id
};

class LedgerAccountant final : public Accountant, private LedgerListener {
 public:
  static absl::StatusOr<std::unique_ptr<LedgerAccountant>> Open(LedgerAccountantOptions options);

  absl::Status Admit(const AdmissionRequest& request) const override;
  void Record(RequestRecord record, Recorded done) override;
  v1::Charge Predict(const std::string& model, const GenerationUsage& usage) const override;

  // What a registered prefix took; from any thread.
  void RecordStorage(const StorageRecord& record);

  const Ledger& ledger() const { return *ledger_; }
  Ledger& ledger() { return *ledger_; }

 private:
  explicit LedgerAccountant(LedgerAccountantOptions options) : options_(std::move(options)) {}

  // What was spent this month, before anything is posted.
  absl::Status ReadSpend();
  absl::Status CheckRequestId(const AdmissionRequest& request) const;
  absl::Status CheckBudget(const std::string& tenant) const;
  bool IsOverSoftBudget(const std::string& tenant) const;
  // Currency, version, prices and amounts; `usage` and what was kept are set.
  void Price(v1::UsageEntry& entry, absl::Time time) const;

  void OnDeferred(const v1::UsageEntry& posted) override;
  void OnStored(const v1::UsageEntry& posted, const StoredEntry& stored, bool deferred) override;

  const LedgerAccountantOptions options_;
  Spend spend_;
  std::unique_ptr<Ledger> ledger_;  // after what its thread calls
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_LEDGER_LEDGER_ACCOUNTANT_H_
