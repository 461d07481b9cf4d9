#include "engine/scheduler/scheduler_thread.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// How long the end of the service may take for the sake of a warm start, and once more for that of what is to be gone:
// well within what service managers allow.
constexpr absl::Duration kStorePatience = absl::Seconds(20);

// How often to look for what wakes nobody, while somebody waits for it: deadlines of requests whose blocks are on their
// way up, and registrations on theirs to disk.
constexpr absl::Duration kLookAgain = absl::Milliseconds(20);

// How late an idle service may notice what time alone brings about: expiries, and a disk that may work again.
constexpr absl::Duration kLookAtClock = absl::Seconds(1);

}  // namespace

SchedulerThread::SchedulerThread(ModelRunner& runner, const Tokenizer& tokenizer,
                                 const PrefixStoreOptions& store_options, SchedulerOptions options,
                                 SchedulerClocks clocks, PrefixStoreTiers tiers, const PrefixRegistryOptions& registry)
    : clocks_(std::move(clocks)),
      store_(store_options, WithWake(std::move(tiers))),
      scheduler_(runner, store_, tokenizer, std::move(options), clocks_.steady),
      registry_(store_, registry),
      on_event_(store_options.on_event),
      limits_(scheduler_.limits()),
      max_queue_(scheduler_.options().max_queue) {
  ShareState();
  thread_ = std::thread([this] { Run(); });
}

PrefixStoreTiers SchedulerThread::WithWake(PrefixStoreTiers tiers) {
  tiers.on_transfer_done = [this] { Post([] {}); };
  return tiers;
}

SchedulerThread::~SchedulerThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    mutex_.NotifyAll();
  }
  thread_.join();
}

absl::StatusOr<GenerationId> SchedulerThread::Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) {
  if (absl::Status s = CheckRequest(request, limits_); !s.ok()) return s;
  const absl::Time now = clocks_.steady();
  request.deadline = now + (request.deadline - clocks_.wall());

  MutexLock lock(mutex_);
  if (draining_ || stopping_) return absl::UnavailableError("The server is shutting down: send the request elsewhere.");
  if (queued_ >= max_queue_) {
    return absl::UnavailableError(fmt::format("The queue is full: {} requests wait; try again later.", queued_));
  }
  const GenerationId id{++last_id_};
  ++in_inbox_;
  ++queued_;
  inbox_.push_back([this, id, now, request = std::move(request), sink = std::move(sink)]() mutable {
    scheduler_.Enqueue(id, std::move(request), std::move(sink), now);
  });
  mutex_.NotifyAll();
  return id;
}

void SchedulerThread::Cancel(GenerationId id) {
  Post([this, id] { scheduler_.Cancel(id); });
}

void SchedulerThread::Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done) {
  Post([this, scope = std::move(scope), tokens = std::move(tokens), done = std::move(done)] {
    done(tokens.empty() ? Match{} : store_.Lookup(scope, tokens));
  });
}

void SchedulerThread::Call(Work work) {
  Post([this, work = std::move(work)]() mutable { work(store_, registry_); });
}

void SchedulerThread::CallDurably(Work work, std::function<void(const absl::Status&)> done) {
  Post([this, work = std::move(work), done = std::move(done)]() mutable {
    work(store_, registry_);
    when_durable_.push_back(std::move(done));
  });
}

void SchedulerThread::TellDurable() {
  if (when_durable_.empty()) return;
  const bool removing = store_.RemovalsPending();
  if (removing && !store_.RemovalsRefused()) return;
  const bool pending = removing || registry_.WritesPending();
  const PrefixStoreStats stats = store_.stats();
  const bool refused = pending && stats.disk_blocks > 0 && !stats.disk_on;
  if (pending && !refused) return;
  const absl::Status status =
      refused ? absl::UnavailableError(
                    "The disk cache does not take the change now: it is tried again, and carried out at a clean stop, "
                    "but lost in a crash before that. It is complete once this call, made again, succeeds.")
              : absl::OkStatus();
  for (const auto& done : std::exchange(when_durable_, {})) done(status);
}

void SchedulerThread::GiveUpDurable() {
  TellDurable();
  for (const auto& done : std::exchange(when_durable_, {})) {
    done(absl::UnavailableError("The server stopped before the change was on disk: ask for it again."));
  }
}

void SchedulerThread::Drain(std::function<void()> drained) {
  MutexLock lock(mutex_);
  draining_ = true;
  on_drained_.push_back(std::move(drained));
  mutex_.NotifyAll();
}

void SchedulerThread::EndAll() {
  Post([this] { scheduler_.EndAll(); });
}

EngineStats SchedulerThread::stats() const {
  MutexLock lock(mutex_);
  return stats_;
}

void SchedulerThread::Post(Command command) {
  MutexLock lock(mutex_);
  inbox_.push_back(std::move(command));
  mutex_.NotifyAll();
}

bool SchedulerThread::HasWork() const {
  return stopping_ || !inbox_.empty() || (idle_ ? !on_drained_.empty() : !waits_);
}

SchedulerThread::Inbox SchedulerThread::AwaitWork() {
  MutexLock lock(mutex_);
  while (!HasWork() && patience_ == absl::InfiniteDuration()) mutex_.Wait();
  if (!HasWork()) mutex_.WaitFor(patience_);
  in_inbox_ = 0;
  return {.commands = std::exchange(inbox_, {}), .stop = stopping_};
}

void SchedulerThread::Run() {
  store_.Recover();
  store_.Poll();  // begins to remove what it found and has no use for
  LoadRegistry();
  ShareState();
  bool stop = false;
  while (!stop) {
    Inbox inbox = AwaitWork();
    // It may have slept past an expiry, which commands are not to overlook.
    if (!inbox.commands.empty()) registry_.Poll(clocks_.wall());
    for (Command& command : inbox.commands) command();
    stop = inbox.stop;
    if (stop) {
      scheduler_.EndAll();
      StoreAll();
      ClearDisk();
      GiveUpDurable();
    } else {
      if (registry_due_ && store_.stats().disk_on) LoadRegistry();
      registry_.Poll(clocks_.wall());
      scheduler_.RunStep();
      TellDurable();
    }
    ShareState();
  }
}

void SchedulerThread::LoadRegistry() {
  const absl::Status status = registry_.Load(clocks_.wall());
  registry_due_ = !status.ok() && !store_.stats().disk_on;
  if (status.ok() || !on_event_) return;
  const absl::string_view why = status.message();
  on_event_(
      fmt::format("Not all registered prefixes could be read from disk: {}", std::string_view(why.data(), why.size())));
}

// A restart begins warm.
void SchedulerThread::StoreAll() {
  PollUntil([this] { return store_.StoreAll() == 0 && store_.stats().transfers_pending == 0; });
}

// A shorter cache is better than data that somebody wanted to be gone, and that a restart would find again.
void SchedulerThread::ClearDisk() {
  if (!store_.RemovalsPending()) return;
  store_.Flush();
  PollUntil([this] { return !store_.RemovalsPending() || store_.RemovalsRefused(); });
  if (!on_event_) return;
  on_event_(store_.RemovalsPending()
                ? "ERROR: the disk could not forget what was flushed or purged before the server stopped. Delete the "
                  "directory of the disk cache (--disk-cache-dir) before the next start, or all of it is found again."
                : "The disk cache was emptied at the stop: what was flushed or purged could not be removed from it one "
                  "by one.");
}

// Transfers wake this thread as anything else does.
void SchedulerThread::PollUntil(absl::FunctionRef<bool()> done) {
  const absl::Time give_up = clocks_.steady() + kStorePatience;
  for (store_.Poll(); !done() && clocks_.steady() < give_up; store_.Poll()) {
    std::vector<Command> commands;
    {
      MutexLock lock(mutex_);
      if (inbox_.empty()) mutex_.WaitFor(kStorePatience);
      commands = std::exchange(inbox_, {});
    }
    for (Command& command : commands) command();
  }
}

absl::Duration SchedulerThread::Patience(const EngineStats& stats) const {
  if (scheduler_.waits_for_transfers() || !when_durable_.empty()) return kLookAgain;
  const bool disk_is_off = stats.store.disk_blocks > 0 && !stats.store.disk_on;
  const absl::Time expiry = std::min(store_.NextExpiry(), registry_.NextExpiry());
  if (expiry <= clocks_.wall()) return kLookAgain;  // more has expired than is forgotten at a time
  return disk_is_off || expiry < absl::InfiniteFuture() ? kLookAtClock : absl::InfiniteDuration();
}

void SchedulerThread::ShareState() {
  EngineStats stats = scheduler_.stats();
  const absl::Duration patience = Patience(stats);
  std::vector<std::function<void()>> drained;
  {
    MutexLock lock(mutex_);
    stats_ = stats;
    idle_ = scheduler_.idle();
    waits_ = scheduler_.waits_for_transfers();
    patience_ = patience;
    queued_ = scheduler_.waiting() + in_inbox_;
    if (idle_ && in_inbox_ == 0) drained = std::exchange(on_drained_, {});
  }
  for (const auto& tell : drained) tell();
}

}  // namespace headstart
