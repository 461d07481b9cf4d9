// Tiers for tests of the store: the device's pages are the simulated memory, the disk is a map that forgets nothing
// when the store goes, and fails when it is told to.

#ifndef HEADSTART_TESTS_PREFIX_STORE_SIMULATED_TIERS_H_
#define HEADSTART_TESTS_PREFIX_STORE_SIMULATED_TIERS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "prefix_store/tier/tier.h"
#include "tests/prefix_store/simulated_memory.h"

namespace headstart::testing {

class SimulatedDevice : public Tier {
 public:
  explicit SimulatedDevice(SimulatedMemory& memory) : memory_(memory) {}

  TierKind kind() const override { return TierKind::kDevice; }
  int64_t capacity_blocks() const override { return memory_.slots(); }
  int64_t batch_blocks() const override { return memory_.slots(); }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override {
    for (size_t i = 0; i < places.size(); ++i) {
      const auto bytes = memory_.Bytes(places[i].slot);
      sink(i, {bytes, BlockChecksum(places[i].key, bytes)});
    }
    return std::vector<absl::Status>(places.size());
  }
  std::unique_ptr<TierWriter> NewWriter() override { return std::make_unique<Writer>(memory_); }
  absl::Status Remove(std::span<const BlockPlace>) override { return absl::OkStatus(); }
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)>) override {
    return absl::OkStatus();
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Probe() override { return absl::OkStatus(); }
  int64_t used_bytes() const override { return 0; }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)>) const override {}

 private:
  class Writer : public TierWriter {
   public:
    explicit Writer(SimulatedMemory& memory) : memory_(memory) {}
    void Add(const BlockPlace& place, const BlockMeta&, const BlockBytes& bytes) override {
      std::memcpy(memory_.Bytes(place.slot).data(), bytes.bytes.data(), bytes.bytes.size());
    }
    absl::Status Commit() override { return absl::OkStatus(); }

   private:
    SimulatedMemory& memory_;
  };

  SimulatedMemory& memory_;
};

// What is on the disk; it outlives the stores that use it.
struct SimulatedRecord {
  BlockMeta meta;
  std::vector<std::byte> bytes;
  uint64_t checksum;
};

class SimulatedDisk : public Tier {
 public:
  explicit SimulatedDisk(int64_t capacity) : capacity_(capacity) {}

  TierKind kind() const override { return TierKind::kDisk; }
  int64_t capacity_blocks() const override { return capacity_; }
  int64_t batch_blocks() const override { return 3; }
  std::vector<absl::Status> Read(std::span<const BlockPlace> places,
                                 absl::FunctionRef<void(size_t index, const BlockBytes&)> sink) override {
    std::vector<absl::Status> statuses;
    for (size_t i = 0; i < places.size(); ++i) statuses.push_back(ReadOne(places[i], i, sink));
    return statuses;
  }
  std::unique_ptr<TierWriter> NewWriter() override { return std::make_unique<Writer>(*this); }
  absl::Status Remove(std::span<const BlockPlace> places) override {
    if (!write_status.ok()) return write_status;
    for (const BlockPlace& place : places) records.erase(place.key);
    return absl::OkStatus();
  }
  absl::Status Clear() override {
    if (!clear_status.ok()) return clear_status;
    ++clears;
    records.clear();
    return absl::OkStatus();
  }
  absl::Status Recover(absl::FunctionRef<bool(const PrefixKey&, const BlockMeta&)> visit) override {
    std::multimap<uint32_t, PrefixKey> by_depth;
    for (const auto& [key, record] : records) by_depth.emplace(record.meta.depth, key);
    int recovered = 0;
    for (const auto& [depth, key] : by_depth) {
      if (!recover_status.ok() && recovered++ >= recoverable) return recover_status;
      if (!visit(key, records.at(key).meta)) break;
    }
    return recover_status;
  }
  absl::Status Sync() override {
    if (write_status.ok()) ++syncs;
    return write_status;
  }
  absl::Status Probe() override {
    ++probes;
    if (!recover_status.ok()) return recover_status;
    return write_status.ok() ? read_status : write_status;
  }
  int64_t used_bytes() const override { return 0; }
  void VisitCounters(absl::FunctionRef<void(std::string_view, int64_t)>) const override {}

  std::map<PrefixKey, SimulatedRecord> records;
  std::map<PrefixKey, int> writes;  // how often each was written
  absl::Status write_status;        // of all writes and removals
  absl::Status read_status;         // of all reads
  absl::Status clear_status;        // of clearing: a full disk can be cleared
  absl::Status recover_status;      // of recovering, after the first `recoverable` blocks
  int recoverable = 0;
  int reads = 0;
  int probes = 0;
  int syncs = 0;
  int clears = 0;

 private:
  class Writer : public TierWriter {
   public:
    explicit Writer(SimulatedDisk& disk) : disk_(disk) {}
    void Add(const BlockPlace& place, const BlockMeta& meta, const BlockBytes& bytes) override {
      added_.emplace_back(place.key, SimulatedRecord{meta, {bytes.bytes.begin(), bytes.bytes.end()}, bytes.checksum});
    }
    absl::Status Commit() override {
      if (!disk_.write_status.ok()) return disk_.write_status;
      for (auto& [key, record] : added_) {
        ++disk_.writes[key];
        disk_.records[key] = std::move(record);
      }
      return absl::OkStatus();
    }

   private:
    SimulatedDisk& disk_;
    std::vector<std::pair<PrefixKey, SimulatedRecord>> added_;
  };

  absl::Status ReadOne(const BlockPlace& place, size_t i, absl::FunctionRef<void(size_t, const BlockBytes&)> sink) {
    ++reads;
    if (!read_status.ok()) return read_status;
    const auto found = records.find(place.key);
    if (found == records.end()) return absl::NotFoundError("no such record");
    const SimulatedRecord& record = found->second;
    if (BlockChecksum(place.key, record.bytes) != record.checksum) return absl::DataLossError("a damaged record");
    sink(i, {record.bytes, record.checksum});
    return absl::OkStatus();
  }

  int64_t capacity_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_SIMULATED_TIERS_H_
