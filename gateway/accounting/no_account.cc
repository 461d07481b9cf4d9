#include "gateway/accounting/no_account.h"

namespace headstart {
namespace {

v1::Charge NoCharge() {
  v1::Charge charge;
  charge.set_cost_nanos(0);
  charge.set_cost_without_cache_nanos(0);
  charge.set_saved_nanos(0);
  return charge;
}

class Free final : public Accountant {
 public:
  absl::Status Admit(const AdmissionRequest&) const override { return absl::OkStatus(); }

  void Record(RequestRecord, Recorded done) override {
    v1::Receipt receipt;
    receipt.set_recorded(false);
    receipt.set_repeated(false);
    receipt.set_budget_warning(false);
    *receipt.mutable_charge() = NoCharge();
    done(receipt);
  }

  v1::Charge Predict(const std::string&, const GenerationUsage&) const override { return NoCharge(); }
};

}  // namespace

std::unique_ptr<Accountant> NoAccount() { return std::make_unique<Free>(); }

}  // namespace headstart
