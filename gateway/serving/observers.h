// Observers that pass on what they hear to several others, in order.
//
// Thread-safety: as the interfaces. Ownership: borrows the others, which outlive them.

#ifndef HEADSTART_GATEWAY_SERVING_OBSERVERS_H_
#define HEADSTART_GATEWAY_SERVING_OBSERVERS_H_

#include <utility>
#include <vector>

#include "gateway/ledger/billing_observer.h"
#include "gateway/services/request_observer.h"

namespace headstart {

class RequestObservers final : public RequestObserver {
 public:
  explicit RequestObservers(std::vector<RequestObserver*> observers) : observers_(std::move(observers)) {}
  void OnRequestFinished(const RequestRecord& record) override {
    for (RequestObserver* observer : observers_) observer->OnRequestFinished(record);
  }

 private:
  const std::vector<RequestObserver*> observers_;
};

class BillingObservers final : public BillingObserver {
 public:
  explicit BillingObservers(std::vector<BillingObserver*> observers) : observers_(std::move(observers)) {}
  void OnBilled(const v1::UsageEntry& entry, const v1::UsageTotals& added) override {
    for (BillingObserver* observer : observers_) observer->OnBilled(entry, added);
  }

 private:
  const std::vector<BillingObserver*> observers_;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_SERVING_OBSERVERS_H_
