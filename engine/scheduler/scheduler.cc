#include "engine/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "engine/scheduler/prefill_share.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// Every running sequence can decode in one step, and one that still prefills finds a token left, since it is one of
// them.
SchedulerOptions Clamp(SchedulerOptions options, const RunnerLimits& runner) {
  if (options.max_context_tokens == 0) options.max_context_tokens = runner.max_positions;
  options.max_context_tokens = std::min<int64_t>(options.max_context_tokens, runner.max_positions);
  options.step_tokens = std::clamp(options.step_tokens, 1, runner.max_step_tokens);
  options.max_running = std::clamp(options.max_running, 1, std::min(runner.max_logit_rows, options.step_tokens));
  options.max_long_prefills = std::max(options.max_long_prefills, 1);
  return options;
}

RequestLimits LimitsOf(const SchedulerOptions& options, const RunnerLimits& runner, const PrefixStoreOptions& store) {
  return {.vocab_size = runner.vocab_size,
          .max_context_tokens = options.max_context_tokens,
          .block_tokens = store.block_tokens,
          .pool_blocks = store.device_blocks};
}

}  // namespace

Scheduler::Scheduler(ModelRunner& runner, PrefixStore& store, const Tokenizer& tokenizer, SchedulerOptions options,
                     Clock clock)
    : runner_(runner),
      store_(store),
      tokenizer_(tokenizer),
      options_(Clamp(std::move(options), runner.limits())),
      clock_(std::move(clock)),
      limits_(LimitsOf(options_, runner.limits(), store.options())),
      queue_(options_.age_cap),
      batch_(limits_.block_tokens) {}

Scheduler::~Scheduler() { EndAll(); }

absl::StatusOr<GenerationId> Scheduler::Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) {
  if (absl::Status s = CheckRequest(request, limits_); !s.ok()) return s;
  if (waiting() >= options_.max_queue) {
    return absl::UnavailableError(fmt::format("The queue is full: {} requests wait; try again later.", waiting()));
  }
  const GenerationId id{submissions_ + 1};
  Enqueue(id, std::move(request), std::move(sink), clock_());
  return id;
}

void Scheduler::Enqueue(GenerationId id, GenerationRequest request, std::shared_ptr<GenerationSink> sink,
                        absl::Time submitted) {
  const SequenceTerms terms{
      .id = id, .age_rank = ++submissions_, .longest_length = LongestLength(request, limits_), .submitted = submitted};
  auto sequence =
      std::make_unique<Sequence>(terms, std::move(request), std::move(sink), tokenizer_, options_.end_tokens);
  live_[id] = sequence.get();
  queue_.Push(std::move(sequence));
}

void Scheduler::Cancel(GenerationId id) {
  if (const auto found = live_.find(id); found != live_.end()) found->second->Cancel();
}

bool Scheduler::RunStep() {
  const absl::Time now = clock_();
  store_.Poll();
  EndCancelledAndLate(now);
  MakeRoom();
  AdvanceLoads(now);
  StartWaiting(now);
  PlanStep();
  if (!plan_.empty()) {
    Compute(now);
    const absl::Time computed = clock_();
    Measure(computed - now);
    Harvest(computed);
  }
  return !idle();
}

void Scheduler::EndCancelledAndLate(absl::Time now) {
  const auto must_end = [&](const Sequence& sequence) { return sequence.cancelled() || sequence.deadline() <= now; };
  const auto end = [&](Sequence& sequence) {
    EndSequence(sequence, sequence.cancelled() ? FinishReason::kCancelled : FinishReason::kDeadline, now);
  };
  for (const auto& sequence : queue_.TakeIf(must_end)) end(*sequence);
  for (const auto& sequence : running_) {
    if (must_end(*sequence)) end(*sequence);
  }
  std::erase_if(running_, [](const auto& sequence) { return sequence->ended(); });
}

void Scheduler::EndSequence(Sequence& sequence, FinishReason reason, absl::Time now) {
  live_.erase(sequence.id());
  memory_came_free_ |= !sequence.slots().empty();
  ++counts_.finished;
  sequence.End(reason, now);
}

// Alone, and still too large for what pins leave. An answer that has begun ends as at the end of the context.
void Scheduler::EndUnfit(Sequence& sequence, absl::Time now) {
  if (sequence.answering()) return EndSequence(sequence, FinishReason::kLength, now);
  const int64_t blocks = (sequence.length() + limits_.block_tokens - 1) / limits_.block_tokens;
  live_.erase(sequence.id());
  ++counts_.finished;
  sequence.Refuse(
      absl::FailedPreconditionError(fmt::format(
          "The prompt has {} tokens, which take {} blocks of {}: the pool has {} blocks, and pinned "
          "prefixes hold {} of them; delete some, shorten the prompt or give the cache more memory.",
          sequence.length(), blocks, limits_.block_tokens, limits_.pool_blocks, store_.stats().pinned_blocks)),
      now);
}

void Scheduler::MakeRoom() {
  for (size_t i = 0; i < running_.size(); ++i) {
    // Preempting ends at the latest with the one that needs the room.
    while (i < running_.size() && !running_[i]->Reserve().ok()) PreemptYoungest();
  }
}

void Scheduler::PreemptYoungest() {
  std::unique_ptr<Sequence> youngest = std::move(running_.back());
  running_.pop_back();
  youngest->Preempt();
  queue_.PushPreempted(std::move(youngest));
  memory_came_free_ = false;
  ++counts_.preemptions;
}

void Scheduler::StartWaiting(absl::Time now) {
  if (queue_.size() == 0) return;
  StartPreempted(now);
  if (queue_.preempted() == nullptr && HasSeat(0)) StartNew(now);
  AdvanceLoads(now);
}

// What a preempted sequence finds again it had before: that is no hit.
LoadState Scheduler::Load(Sequence& sequence, absl::Time now) {
  const bool first_time = !sequence.acquired_before();
  const int64_t cached_before = sequence.cached_tokens();
  const LoadState state = sequence.Load(runner_, now);
  if (state != LoadState::kReady) return state;
  if (first_time && sequence.reads_cache()) counts_.queried_tokens += sequence.length();
  counts_.hit_tokens += sequence.cached_tokens() - cached_before;
  return state;
}

void Scheduler::AdvanceLoads(absl::Time now) {
  for (std::unique_ptr<Sequence>& sequence : running_) {
    if (!sequence->loading() || Load(*sequence, now) != LoadState::kFailed) continue;
    sequence->Preempt();
    queue_.PushPreempted(std::move(sequence));
    memory_came_free_ = true;
  }
  std::erase(running_, nullptr);
}

void Scheduler::StartPreempted(absl::Time now) {
  while (Sequence* sequence = queue_.preempted()) {
    const bool may_fit = memory_came_free_ || running_.empty();
    if (!may_fit || !HasSeat(0) || !Start(*sequence, now)) return;
  }
}

void Scheduler::StartNew(absl::Time now) {
  const auto probe = [&](Sequence& sequence) { return ProbeCache(sequence, now); };
  for (const Candidate& candidate : queue_.InOrder(now, RunningByTenant(), probe)) {
    if (!HasSeat(0)) return;
    // Those started before it in this step may have claimed what it shares, or taken its seat.
    const int64_t cached = ProbeCache(*candidate.sequence, now);
    if (cached < 0 || !HasSeat(candidate.sequence->length() - cached)) continue;
    // Memory is kept for one past its age cap: smaller ones behind it may not take what it waits for.
    if (!Start(*candidate.sequence, now) && candidate.aged) return;
  }
}

bool Scheduler::IsLong(int64_t tokens_to_compute) const {
  return tokens_to_compute > std::max(1, options_.step_tokens / options_.max_long_prefills);
}

bool Scheduler::HasSeat(int64_t tokens_to_compute) const {
  if (static_cast<int>(running_.size()) >= options_.max_running) return false;
  if (!IsLong(tokens_to_compute)) return true;
  return std::ranges::count_if(running_, [&](const auto& sequence) { return IsLong(sequence->remaining()); }) <
         options_.max_long_prefills;
}

// Tokens that the cache has for `sequence`, or −1 while it should wait for one that computes more of them.
int64_t Scheduler::ProbeCache(Sequence& sequence, absl::Time now) const {
  if (!sequence.reads_cache()) return 0;
  const Match match = store_.Lookup(sequence.scope(), sequence.tokens());
  const bool wait = sequence.prefix_wait().ShouldWait(match, limits_.block_tokens, now, options_.prefix_patience);
  return wait ? -1 : match.matched_tokens;
}

bool Scheduler::Start(Sequence& sequence, absl::Time now) {
  if (!sequence.Start(store_, /*read_cache=*/true, now).ok()) {
    // Transfers that nobody waits for any more hold memory until they are done.
    if (!running_.empty() || store_.stats().transfers_pending > 0) return false;
    // With nobody else running, what can stand in the way is the sequence's own hits, by the blocks they are copied
    // from.
    if (!sequence.Start(store_, /*read_cache=*/false, now).ok()) {
      EndUnfit(*queue_.Take(sequence), now);
      return true;
    }
  }
  const auto place =
      std::ranges::upper_bound(running_, sequence.age_rank(), {}, [](const auto& other) { return other->age_rank(); });
  running_.insert(place, queue_.Take(sequence));
  return true;
}

void Scheduler::PlanStep() {
  plan_.clear();
  std::vector<Sequence*> prefilling;
  std::vector<int64_t> remaining;
  for (const auto& sequence : running_) {
    if (sequence->loading()) continue;
    if (sequence->remaining() == 1) {
      plan_.push_back({sequence.get(), 1});
    } else {
      prefilling.push_back(sequence.get());
      remaining.push_back(sequence->remaining());
    }
  }
  const std::vector<int64_t> shares =
      SharePrefill(remaining, options_.step_tokens - static_cast<int64_t>(plan_.size()));
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) plan_.push_back({prefilling[i], shares[i]});
  }
}

void Scheduler::Compute(absl::Time now) {
  batch_.Clear();
  for (const Work& work : plan_) {
    Sequence& sequence = *work.sequence;
    sequence.Working(now);
    sequence.TakeSlots(work.count);
    batch_.Add({.tokens = sequence.tokens(),
                .first = sequence.computed(),
                .count = work.count,
                .slots = sequence.slots(),
                .wants_logits = work.count == sequence.remaining()});
  }
  runner_.Forward(batch_.batch());
  ++counts_.steps;
}

// What loading is weighed against: steps that are mostly prefill say what a prompt's token takes.
void Scheduler::Measure(absl::Duration elapsed) {
  int64_t tokens = 0;
  for (const Work& work : plan_) tokens += work.count;
  if (tokens >= options_.step_tokens / 2 && elapsed > absl::ZeroDuration()) store_.Computed(tokens, elapsed);
}

void Scheduler::Harvest(absl::Time now) {
  int row = 0;
  for (const Work& work : plan_) {
    Sequence& sequence = *work.sequence;
    const ComputedTokens run = sequence.Computed(work.count, limits_.block_tokens);
    counts_.prompt_tokens_computed += run.prompt;
    counts_.recomputed_tokens += run.again;
    if (sequence.remaining() > 0) continue;
    if (sequence.prefill_only()) {
      ++row;
      EndSequence(sequence, FinishReason::kLength, now);
      continue;
    }
    ++counts_.completion_tokens;
    if (const auto reason = sequence.Accept(runner_.Logits(row++), now)) EndSequence(sequence, *reason, now);
  }
  std::erase_if(running_, [](const auto& sequence) { return sequence->ended(); });
}

void Scheduler::EndAll() {
  const absl::Time now = clock_();
  for (const auto& sequence : queue_.TakeIf([](const Sequence&) { return true; })) {
    EndSequence(*sequence, FinishReason::kShutdown, now);
  }
  for (const auto& sequence : std::exchange(running_, {})) EndSequence(*sequence, FinishReason::kShutdown, now);
}

TenantSeats Scheduler::RunningByTenant() const {
  TenantSeats seats;
  for (const auto& sequence : running_) ++seats[TenantOf(sequence->scope())];
  return seats;
}

EngineStats Scheduler::stats() const {
  EngineStats stats = counts_;
  stats.store = store_.stats();
  stats.running = static_cast<int64_t>(running_.size());
  stats.waiting = queue_.size();
  stats.waiting_for_prefix = queue_.waiting_for_prefix();
  return stats;
}

}  // namespace headstart
