// Accountant: lets requests in, as far as their tenant may spend, and writes down what each of them used and cost.
//
// Thread-safety: Admit and Predict may be called from any thread; they may read from disk, so not on gRPC's threads.
// Record is called on the engine's scheduler thread and returns at once; `done` comes later, from another thread, or at
// once.
// Errors, Admit: RESOURCE_EXHAUSTED with QuotaFailure and RetryInfo when the tenant's budget is used up;
// INVALID_ARGUMENT when the request id was used before for another request, or too often; UNAVAILABLE with RetryInfo
// when the account cannot be written and too much waits to be.

#ifndef HEADSTART_GATEWAY_ACCOUNTING_ACCOUNTANT_H_
#define HEADSTART_GATEWAY_ACCOUNTING_ACCOUNTANT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "gateway/accounting/request_record.h"
#include "headstart/v1/usage.pb.h"

namespace headstart {

// What is known of a request before any work.
struct AdmissionRequest {
  std::string tenant;
  std::string request_id;       // as the caller gave it; empty when it gave none
  uint64_t request_digest = 0;  // as in RequestRecord
};

class Accountant {
 public:
  virtual ~Accountant() = default;

  // Overshoot is bounded by what was admitted before the budget was used up.
  virtual absl::Status Admit(const AdmissionRequest& request) const = 0;

  // `done` is called once: when the record is on disk, or when the disk refused it (then `recorded` is false and it
  // will be written later). Every request that the engine took has a record; one that ended while it waited has no
  // tokens in it.
  using Recorded = std::function<void(const v1::Receipt& receipt)>;
  virtual void Record(RequestRecord record, Recorded done) = 0;

  // What such usage would be charged now.
  virtual v1::Charge Predict(const std::string& model, const GenerationUsage& usage) const = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_ACCOUNTANT_H_
