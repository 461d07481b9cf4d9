#include "gateway/accounting/no_account.h"

#include "gateway/accounting/charge.h"

namespace headstart {
namespace {

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
