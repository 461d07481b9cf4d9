// HostTier: blocks in this machine's memory: one arena of equal slots, each with its block's key and checksum.
//
// Thread-safety: as Tier says; writers and removers of different slots may run side by side.
// Ownership: `memory` outlives the tier.
// Errors: NOT_FOUND when a slot holds no block or another one, DATA_LOSS when its bytes are not those written.
//
//   auto tier = HostTier::Create({.capacity_blocks = 4096, .block_bytes = 2359296}, *memory);
//   auto writer = (*tier)->NewWriter();
//   writer->Add({.key = key, .slot = SlotIndex{7}}, meta, {bytes, BlockChecksum(key, bytes)});
//   absl::Status stored = writer->Commit();

#ifndef HEADSTART_PREFIX_STORE_TIER_HOST_TIER_H_
#define HEADSTART_PREFIX_STORE_TIER_HOST_TIER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "prefix_store/tier/host_memory.h"
#include "prefix_store/tier/tier.h"

namespace headstart {

struct HostTierOptions {
  int64_t capacity_blocks = 0;  // slots; REQUIRED, at least 1
  int64_t block_bytes = 0;      // REQUIRED, at least 1
};

class HostTier final : public Tier {
 public:
  // INVALID_ARGUMENT for options out of range, RESOURCE_EXHAUSTED without the memory.
  static absl::StatusOr<std::unique_ptr<HostTier>> Create(const HostTierOptions& options, HostMemory& memory);
  ~HostTier() override;
  HostTier(const HostTier&) = delete;
  HostTier& operator=(const HostTier&) = delete;

  TierKind kind() const override { return TierKind::kHost; }
  int64_t capacity_blocks() const override { return options_.capacity_blocks; }
  int64_t batch_blocks() const override { return options_.capacity_blocks; }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override;
  // Bytes go to their slot at once, which forgets the block that was there; Commit makes the new one found.
  std::unique_ptr<TierWriter> NewWriter() override;
  absl::Status Remove(std::span<const BlockPlace> places) override;
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) override;
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Probe() override { return absl::OkStatus(); }
  // Of slots that were ever used: memory that was touched stays taken.
  int64_t used_bytes() const override;
  void VisitCounters(absl::FunctionRef<void(std::string_view name, int64_t value)> visit) const override;

 private:
  class Writer;
  enum class SlotState : uint8_t { kUntouched, kEmpty, kFull };
  struct Slot {
    PrefixKey key;
    uint64_t checksum = 0;
    SlotState state = SlotState::kUntouched;
  };

  HostTier(const HostTierOptions& options, HostMemory& memory, std::span<std::byte> arena);

  std::span<std::byte> Bytes(SlotIndex slot) const;
  absl::Status ReadOne(const BlockPlace& place, absl::FunctionRef<void(const BlockBytes&)> sink);
  void Fill(const BlockPlace& place, const BlockBytes& bytes);
  void Show(SlotIndex slot);
  void Empty(Slot& slot);

  const HostTierOptions options_;
  HostMemory& memory_;
  const std::span<std::byte> arena_;
  std::vector<Slot> slots_;
  std::atomic<int64_t> touched_slots_ = 0;
  std::atomic<int64_t> blocks_ = 0;
  std::atomic<int64_t> damaged_blocks_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_TIER_HOST_TIER_H_
