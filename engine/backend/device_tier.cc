#include "engine/backend/device_tier.h"

namespace headstart {
namespace {

class Writer final : public TierWriter {
 public:
  explicit Writer(Backend& backend) : backend_(backend) {}
  void Add(const BlockPlace& place, const BlockMeta&, const BlockBytes& bytes) override {
    backend_.WriteBlock(place.slot, bytes.bytes);
  }
  absl::Status Commit() override { return absl::OkStatus(); }

 private:
  Backend& backend_;
};

}  // namespace

std::vector<absl::Status> DeviceTier::Read(std::span<const BlockPlace> places,
                                           absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) {
  std::vector<std::byte> bytes(block_bytes_);
  for (size_t i = 0; i < places.size(); ++i) {
    backend_.ReadBlock(places[i].slot, bytes);
    sink(i, {bytes, BlockChecksum(places[i].key, bytes)});
  }
  return std::vector<absl::Status>(places.size());
}

std::unique_ptr<TierWriter> DeviceTier::NewWriter() { return std::make_unique<Writer>(backend_); }

}  // namespace headstart
