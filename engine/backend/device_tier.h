// DeviceTier: a backend's KV pages as the store's fastest tier. What leaves it gets its checksum here.
//
// Thread-safety: as Tier says; blocks may be written side by side, each to a slot of its own, also while the backend
// computes on others.
// Ownership: the backend outlives the tier.
//
//   DeviceTier device(backend, shape.bytes_per_block(), slots);   // after backend.AllocateKv(shape, slots)

#ifndef HEADSTART_ENGINE_BACKEND_DEVICE_TIER_H_
#define HEADSTART_ENGINE_BACKEND_DEVICE_TIER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "prefix_store/tier/tier.h"

namespace headstart {

class DeviceTier final : public Tier {
 public:
  DeviceTier(Backend& backend, int64_t block_bytes, int64_t slots)
      : backend_(backend), block_bytes_(block_bytes), slots_(slots) {}

  TierKind kind() const override { return TierKind::kDevice; }
  int64_t capacity_blocks() const override { return slots_; }
  int64_t batch_blocks() const override { return slots_; }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override;
  // What is added is on the device at once; its block is shown to nobody before the store says so.
  std::unique_ptr<TierWriter> NewWriter() override;

  // The store alone knows what its slots hold, and nothing of it outlives the process.
  absl::Status Remove(std::span<const BlockPlace>) override { return absl::OkStatus(); }
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)>) override {
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Probe() override { return absl::OkStatus(); }
  int64_t used_bytes() const override { return slots_ * block_bytes_; }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)>) const override {}

 private:
  Backend& backend_;
  const int64_t block_bytes_;
  const int64_t slots_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_DEVICE_TIER_H_
