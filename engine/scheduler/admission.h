// AdmissionQueue: the requests that wait to run, and the order in which they should start.
//
// Thread-safety: none; the scheduler's thread owns it.
//
// The order:
//   1. A preempted sequence goes before everything that never ran, the oldest first, and alone: nobody overtakes it.
//   2. Between tenants: seats are shared. The tenant with the fewest running sequences is next, each request that is
//   placed
//      counting as one more. All partitions of a tenant are one; the public scope is one.
//   3. Of one tenant, and between tenants that are even: requests past the age cap first, the oldest first; then the
//   longest
//      cached prefix first, so that what is cached is used before it is evicted; then the oldest.
//
// Nobody starves: a request past the age cap is the next of its tenant, and a tenant with nothing running is next of
// all.

#ifndef HEADSTART_ENGINE_SCHEDULER_ADMISSION_H_
#define HEADSTART_ENGINE_SCHEDULER_ADMISSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "engine/scheduler/sequence.h"
#include "prefix_store/types.h"

namespace headstart {

// Who shares seats with whom.
using TenantSeats = absl::flat_hash_map<std::string, int>;
std::string TenantOf(const Scope& scope);

// A waiting request whose turn it may be.
struct Candidate {
  Sequence* sequence = nullptr;
  bool aged = false;
  int64_t cached_tokens = 0;
};

class AdmissionQueue {
 public:
  explicit AdmissionQueue(absl::Duration age_cap) : age_cap_(age_cap) {}

  void Push(std::unique_ptr<Sequence> sequence) { waiting_.push_back(std::move(sequence)); }
  void PushPreempted(std::unique_ptr<Sequence> sequence);

  // Gives up `sequence`. REQUIRES: it is in the queue.
  std::unique_ptr<Sequence> Take(const Sequence& sequence);

  // Gives up all that `should_go` says, in order.
  std::vector<std::unique_ptr<Sequence>> TakeIf(absl::FunctionRef<bool(const Sequence&)> should_go);

  // The preempted sequence that goes next, or null.
  Sequence* preempted() const { return preempted_.empty() ? nullptr : preempted_.front().get(); }

  // Those that never ran, in the order above. `cached_tokens` says how much of one is cached; it is asked of a bounded
  // number of requests, and of few of any one tenant, so that a step's cost does not grow with the queue. A negative
  // answer means that it should not start yet.
  std::vector<Candidate> InOrder(absl::Time now, const TenantSeats& seats,
                                 absl::FunctionRef<int64_t(Sequence&)> cached_tokens) const;

  // How many were found to wait for a shared prefix when last asked.
  int64_t waiting_for_prefix() const;

  int64_t size() const { return static_cast<int64_t>(waiting_.size() + preempted_.size()); }

 private:
  std::vector<Candidate> Probe(absl::Time now, absl::FunctionRef<int64_t(Sequence&)> cached_tokens) const;

  const absl::Duration age_cap_;
  std::vector<std::unique_ptr<Sequence>> preempted_;  // oldest first
  std::vector<std::unique_ptr<Sequence>> waiting_;    // in order of submission
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_ADMISSION_H_
