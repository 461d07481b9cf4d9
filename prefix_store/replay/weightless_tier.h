// WeightlessTier: a tier without bytes, for replays: it keeps what it is given in no time and in no memory. And
// InlineExecutor, which carries work out where it is asked to.
//
// Thread-safety: none.

#ifndef HEADSTART_PREFIX_STORE_REPLAY_WEIGHTLESS_TIER_H_
#define HEADSTART_PREFIX_STORE_REPLAY_WEIGHTLESS_TIER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "prefix_store/tier/tier.h"
#include "prefix_store/transfer/io_executor.h"

namespace headstart {

class WeightlessTier final : public Tier {
 public:
  WeightlessTier(TierKind kind, int64_t capacity_blocks) : kind_(kind), capacity_blocks_(capacity_blocks) {}

  TierKind kind() const override { return kind_; }
  int64_t capacity_blocks() const override { return capacity_blocks_; }
  int64_t batch_blocks() const override { return capacity_blocks_; }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override {
    for (size_t i = 0; i < places.size(); ++i) sink(i, {});
    return std::vector<absl::Status>(places.size());
  }
  std::unique_ptr<TierWriter> NewWriter() override { return std::make_unique<Writer>(); }
  absl::Status Remove(std::span<const BlockPlace>) override { return absl::OkStatus(); }
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)>) override {
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Probe() override { return absl::OkStatus(); }
  int64_t used_bytes() const override { return 0; }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)>) const override {}

 private:
  class Writer final : public TierWriter {
   public:
    void Add(const BlockPlace&, const BlockMeta&, const BlockBytes&) override {}
    absl::Status Commit() override { return absl::OkStatus(); }
  };

  const TierKind kind_;
  const int64_t capacity_blocks_;
};

class InlineExecutor final : public IoExecutor {
 public:
  void Run(IoLane, Work work) override { work(); }
};

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REPLAY_WEIGHTLESS_TIER_H_
