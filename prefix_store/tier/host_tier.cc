#include "prefix_store/tier/host_tier.h"

#include <cstring>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace headstart {

class HostTier::Writer final : public TierWriter {
 public:
  explicit Writer(HostTier& tier) : tier_(tier) {}

  void Add(const BlockPlace& place, const BlockMeta&, const BlockBytes& bytes) override {
    tier_.Fill(place, bytes);
    slots_.push_back(place.slot);
  }

  absl::Status Commit() override {
    for (const SlotIndex slot : slots_) tier_.Show(slot);
    slots_.clear();
    return absl::OkStatus();
  }

 private:
  HostTier& tier_;
  std::vector<SlotIndex> slots_;
};

absl::StatusOr<std::unique_ptr<HostTier>> HostTier::Create(const HostTierOptions& options, HostMemory& memory) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  if (options.capacity_blocks < 1 || options.block_bytes < 1 || options.capacity_blocks > most / options.block_bytes) {
    return absl::InvalidArgumentError(
        fmt::format("a host tier of {} blocks of {} bytes: both must be at least 1 and their product must fit 63 bits",
                    options.capacity_blocks, options.block_bytes));
  }
  absl::StatusOr<std::span<std::byte>> arena = memory.Allocate(options.capacity_blocks * options.block_bytes);
  if (!arena.ok()) return arena.status();
  return std::unique_ptr<HostTier>(new HostTier(options, memory, *arena));
}

HostTier::HostTier(const HostTierOptions& options, HostMemory& memory, std::span<std::byte> arena)
    : options_(options), memory_(memory), arena_(arena), slots_(static_cast<size_t>(options.capacity_blocks)) {}

HostTier::~HostTier() { memory_.Free(arena_); }

std::span<std::byte> HostTier::Bytes(SlotIndex slot) const {
  const size_t size = static_cast<size_t>(options_.block_bytes);
  return arena_.subspan(ToIndex(slot) * size, size);
}

std::vector<absl::Status> HostTier::Read(std::span<const BlockPlace> places,
                                         absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  std::vector<absl::Status> statuses;
  statuses.reserve(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    statuses.push_back(ReadOne(places[i], [&](const BlockBytes& bytes) { sink(i, bytes); }));
  }
  return statuses;
}

// The hash brings the block into the core's cache, from where the sink takes it: measured, the two together run at more
// than 70% of memcpy's speed, and hashing in stripes between copies is slower than whole blocks one after the other.
absl::Status HostTier::ReadOne(const BlockPlace& place, absl::FunctionRef<void(const BlockBytes&)> sink) {
  const Slot& slot = slots_[ToIndex(place.slot)];
  if (slot.state != SlotState::kFull || slot.key != place.key) {
    return absl::NotFoundError(fmt::format("host slot {} does not hold the block", ToIndex(place.slot)));
  }
  const BlockBytes bytes{Bytes(place.slot), slot.checksum};
  if (BlockChecksum(place.key, bytes.bytes) != slot.checksum) {
    damaged_blocks_.fetch_add(1, std::memory_order_relaxed);
    return absl::DataLossError(fmt::format("the bytes in host slot {} are not those written", ToIndex(place.slot)));
  }
  sink(bytes);
  return absl::OkStatus();
}

std::unique_ptr<TierWriter> HostTier::NewWriter() { return std::make_unique<Writer>(*this); }

void HostTier::Fill(const BlockPlace& place, const BlockBytes& bytes) {
  Slot& slot = slots_[ToIndex(place.slot)];
  Empty(slot);
  slot.key = place.key;
  slot.checksum = bytes.checksum;
  std::memcpy(Bytes(place.slot).data(), bytes.bytes.data(), static_cast<size_t>(options_.block_bytes));
}

void HostTier::Show(SlotIndex slot) {
  if (std::exchange(slots_[ToIndex(slot)].state, SlotState::kFull) == SlotState::kFull) return;
  blocks_.fetch_add(1, std::memory_order_relaxed);
}

void HostTier::Empty(Slot& slot) {
  if (slot.state == SlotState::kUntouched) touched_slots_.fetch_add(1, std::memory_order_relaxed);
  if (slot.state == SlotState::kFull) blocks_.fetch_sub(1, std::memory_order_relaxed);
  slot.state = SlotState::kEmpty;
}

absl::Status HostTier::Remove(std::span<const BlockPlace> places) {
  for (const BlockPlace& place : places) {
    Slot& slot = slots_[ToIndex(place.slot)];
    if (slot.state == SlotState::kFull && slot.key == place.key) Empty(slot);
  }
  return absl::OkStatus();
}

absl::Status HostTier::Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)>) {
  return absl::OkStatus();  // memory ends with its process
}

int64_t HostTier::used_bytes() const {
  return touched_slots_.load(std::memory_order_relaxed) * options_.block_bytes +
         static_cast<int64_t>(slots_.size() * sizeof(Slot));
}

void HostTier::VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const {
  visit("blocks", blocks_.load(std::memory_order_relaxed));
  visit("damaged_blocks", damaged_blocks_.load(std::memory_order_relaxed));
}

}  // namespace headstart
