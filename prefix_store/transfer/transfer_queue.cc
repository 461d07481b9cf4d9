#include "prefix_store/transfer/transfer_queue.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "fmt/format.h"
#include "prefix_store/mutex.h"

namespace headstart {
namespace {

using Items = std::span<TransferItem>;

std::vector<BlockPlace> PlacesFrom(std::span<const TransferItem> items) {
  std::vector<BlockPlace> places;
  places.reserve(items.size());
  for (const TransferItem& item : items) places.push_back(item.from);
  return places;
}

void SetAll(Items items, const absl::Status& status) {
  for (TransferItem& item : items) item.status = status;
}

// Moves blocks in one commit, whose status it returns. Those that were read take it; the others keep why they were not.
absl::Status Move(Tier& from, Tier& to, Items items) {
  const std::unique_ptr<TierWriter> writer = to.NewWriter();
  std::vector<absl::Status> read = from.Read(
      PlacesFrom(items), [&](size_t i, const BlockBytes& bytes) { writer->Add(items[i].to, items[i].meta, bytes); });
  absl::Status written = writer->Commit();
  for (size_t i = 0; i < items.size(); ++i) items[i].status = read[i].ok() ? written : std::move(read[i]);
  return written;
}

// Moves blocks in as many commits as the receiver takes at a time. After one that failed the rest are not tried: their
// parents may be among those that are not there.
void MoveInBatches(Tier& from, Tier& to, Items items) {
  const size_t batch = static_cast<size_t>(std::max<int64_t>(1, to.batch_blocks()));
  while (!items.empty()) {
    const Items now = items.first(std::min(batch, items.size()));
    const absl::Status written = Move(from, to, now);
    items = items.subspan(now.size());
    if (!written.ok()) return SetAll(items, written);
  }
}

absl::Status Missing(TierKind kind) {
  return absl::FailedPreconditionError(fmt::format("a transfer needs the {} tier, and there is none", TierName(kind)));
}

Tier* Find(const TransferQueue::Tiers& tiers, TierKind kind) {
  switch (kind) {
    case TierKind::kDevice:
      return tiers.device;
    case TierKind::kHost:
      return tiers.host;
    case TierKind::kDisk:
      return tiers.disk;
  }
  return nullptr;
}

// The other side of a transfer; for those that have one side alone, that one.
TierKind OtherSide(const Transfer& transfer) {
  if (transfer.kind == TransferKind::kLoad) return TierKind::kDevice;
  return transfer.kind == TransferKind::kStore ? TierKind::kHost : transfer.tier;
}

void Carry(Transfer& transfer, Tier& slower, Tier& other) {
  switch (transfer.kind) {
    case TransferKind::kLoad:
      return MoveInBatches(slower, other, transfer.items);
    case TransferKind::kStore:
      return MoveInBatches(other, slower, transfer.items);
    case TransferKind::kRemove:
      return SetAll(transfer.items, slower.Remove(PlacesFrom(transfer.items)));
    case TransferKind::kClear:
      transfer.status = slower.Clear();
      return;
    case TransferKind::kSync:
      transfer.status = slower.Sync();
      return;
    case TransferKind::kProbe:
      transfer.status = slower.Probe();
  }
}

void CarryOut(const TransferQueue::Tiers& tiers, Transfer& transfer) {
  for (const TierKind kind : {transfer.tier, OtherSide(transfer)}) {
    if (Find(tiers, kind) != nullptr) continue;
    transfer.status = Missing(kind);
    return SetAll(transfer.items, transfer.status);
  }
  Carry(transfer, *Find(tiers, transfer.tier), *Find(tiers, OtherSide(transfer)));
}

IoLane LaneOf(const Transfer& transfer) {
  return transfer.kind == TransferKind::kLoad ? IoLane::kRead : IoLane::kWrite;
}

}  // namespace

// What the work on I/O threads needs. It outlives the queue as long as work that has not begun refers to it.
struct TransferQueue::Shared {
  Shared(const Tiers& the_tiers, std::function<absl::Time()> clock, std::function<void()> wake)
      : tiers(the_tiers), now(std::move(clock)), on_done(std::move(wake)) {}

  const Tiers tiers;
  const std::function<absl::Time()> now;
  const std::function<void()> on_done;

  Mutex mutex;
  bool closing ABSL_GUARDED_BY(mutex) = false;  // nothing begins any more
  int running ABSL_GUARDED_BY(mutex) = 0;
  std::vector<std::unique_ptr<Transfer>> done ABSL_GUARDED_BY(mutex);

  bool Begin() {
    MutexLock lock(mutex);
    if (!closing) ++running;
    return !closing;
  }

  void Finish(std::unique_ptr<Transfer> transfer) {
    {
      MutexLock lock(mutex);
      done.push_back(std::move(transfer));
    }
    on_done();
    // The queue's owner may go once this is noted, so it comes last.
    MutexLock lock(mutex);
    --running;
    mutex.NotifyAll();
  }

  void Work(std::unique_ptr<Transfer> transfer) {
    if (!Begin()) return;
    const absl::Time start = now();
    CarryOut(tiers, *transfer);
    transfer->elapsed = now() - start;
    Finish(std::move(transfer));
  }

  void Close() {
    MutexLock lock(mutex);
    closing = true;
    while (running > 0) mutex.Wait();
  }
};

TransferQueue::TransferQueue(const Tiers& tiers, IoExecutor& executor, std::function<absl::Time()> now,
                             std::function<void()> on_done)
    : executor_(executor), shared_(std::make_shared<Shared>(tiers, std::move(now), std::move(on_done))) {}

TransferQueue::~TransferQueue() { shared_->Close(); }

void TransferQueue::Submit(std::unique_ptr<Transfer> transfer) {
  ++pending_;
  const IoLane lane = LaneOf(*transfer);
  executor_.Run(lane,
                [shared = shared_, transfer = std::move(transfer)]() mutable { shared->Work(std::move(transfer)); });
}

std::vector<std::unique_ptr<Transfer>> TransferQueue::TakeDone() {
  std::vector<std::unique_ptr<Transfer>> done;
  {
    MutexLock lock(shared_->mutex);
    done.swap(shared_->done);
  }
  pending_ -= static_cast<int64_t>(done.size());
  return done;
}

}  // namespace headstart
