#include "engine/scheduler/admission.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace headstart {
namespace {

// Look-ups of one step: at some microseconds for a usual prompt, they stay well below a step's compute.
constexpr int kMaxProbes = 128;
// Of those that may start, for one tenant: as many as a step can well begin; few enough that one's flood hides nobody
// else.
constexpr int kMaxReadyPerTenant = 16;

using Sequences = std::vector<std::unique_ptr<Sequence>>;

bool Better(const Candidate& a, const Candidate& b) {
  if (a.aged != b.aged) return a.aged;
  if (!a.aged && a.cached_tokens != b.cached_tokens) return a.cached_tokens > b.cached_tokens;
  return a.sequence->age_rank() < b.sequence->age_rank();
}

void MoveIf(Sequences& from, absl::FunctionRef<bool(const Sequence&)> should_go, Sequences& to) {
  for (std::unique_ptr<Sequence>& sequence : from) {
    if (should_go(*sequence)) to.push_back(std::move(sequence));
  }
  std::erase(from, nullptr);
}

}  // namespace

std::string TenantOf(const Scope& scope) {
  // The prefix keeps a tenant with an empty name apart from the public scope.
  return scope.is_public() ? std::string() : "t" + scope.tenant();
}

void AdmissionQueue::PushPreempted(std::unique_ptr<Sequence> sequence) {
  const auto place = std::ranges::upper_bound(preempted_, sequence->age_rank(), {},
                                              [](const auto& other) { return other->age_rank(); });
  preempted_.insert(place, std::move(sequence));
}

std::unique_ptr<Sequence> AdmissionQueue::Take(const Sequence& sequence) {
  return std::move(TakeIf([&](const Sequence& other) { return &other == &sequence; }).front());
}

Sequences AdmissionQueue::TakeIf(absl::FunctionRef<bool(const Sequence&)> should_go) {
  Sequences taken;
  MoveIf(preempted_, should_go, taken);
  MoveIf(waiting_, should_go, taken);
  return taken;
}

int64_t AdmissionQueue::waiting_for_prefix() const {
  return std::ranges::count_if(waiting_, [](const auto& sequence) { return sequence->prefix_wait().waiting(); });
}

std::vector<Candidate> AdmissionQueue::Probe(absl::Time now,
                                             absl::FunctionRef<int64_t(Sequence&)> cached_tokens) const {
  std::vector<Candidate> found;
  TenantSeats ready;
  int probes = 0;
  for (const std::unique_ptr<Sequence>& sequence : waiting_) {
    int& of_tenant = ready[TenantOf(sequence->scope())];
    if (of_tenant >= kMaxReadyPerTenant) continue;
    if (++probes > kMaxProbes) break;
    const int64_t cached = cached_tokens(*sequence);
    if (cached < 0) continue;
    ++of_tenant;
    found.push_back({sequence.get(), now - sequence->submitted() >= age_cap_, cached});
  }
  return found;
}

std::vector<Candidate> AdmissionQueue::InOrder(absl::Time now, const TenantSeats& seats,
                                               absl::FunctionRef<int64_t(Sequence&)> cached_tokens) const {
  std::vector<Candidate> candidates = Probe(now, cached_tokens);
  std::ranges::sort(candidates, Better);

  TenantSeats taken = seats;
  std::vector<std::pair<int, Candidate>> by_turn;
  by_turn.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    by_turn.emplace_back(taken[TenantOf(candidate.sequence->scope())]++, candidate);
  }
  std::ranges::stable_sort(by_turn, {}, [](const auto& entry) { return entry.first; });
  std::ranges::transform(by_turn, candidates.begin(), [](const auto& entry) { return entry.second; });
  return candidates;
}

}  // namespace headstart
