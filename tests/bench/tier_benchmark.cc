// Tiers beside what they are held against: memcpy for host memory, plain files for disk. Each restores blocks to slots
// all over a buffer much larger than the caches, as loading into a device's pages does.
//
//   tier_benchmark --benchmark_filter='Host|Disk|Plain' --benchmark_repetitions=5
//
// The argument is the size of a block. Names ending in Cold have their files' pages dropped from the system's cache
// before each pass. HEADSTART_BENCH_DIRECTORY is where files go (the system's temporary directory by default).

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "prefix_store/prefix_key.h"
#include "prefix_store/prefix_store.h"
#include "prefix_store/tier/disk_tier.h"
#include "prefix_store/tier/host_tier.h"
#include "prefix_store/transfer/io_executor.h"

namespace headstart {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTotalBytes = 512 << 20;
constexpr Fingerprint kFingerprint{1, 2};

int64_t BlocksOf(int64_t block_bytes) { return kTotalBytes / block_bytes; }

// Where blocks are restored to.
struct Device {
  explicit Device(int64_t block_bytes) : size(static_cast<size_t>(block_bytes)), memory(NewAnonymousMemory()) {
    bytes = *memory->Allocate(kTotalBytes);
    std::memset(bytes.data(), 1, bytes.size());
  }
  ~Device() { memory->Free(bytes); }
  void Put(size_t block, const void* from) { std::memcpy(bytes.data() + block * size, from, size); }
  std::byte* Slot(size_t block) { return bytes.data() + block * size; }

  size_t size;
  std::unique_ptr<HostMemory> memory;
  std::span<std::byte> bytes;
};

// An order in which no block follows its neighbour.
std::vector<size_t> Order(int64_t blocks) {
  std::vector<size_t> order(static_cast<size_t>(blocks));
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::minstd_rand(1));
  return order;
}

struct Block {
  BlockPlace place;
  BlockMeta meta;
};

Block MakeBlock(int64_t number) {
  Block block;
  block.meta.parent = RootKey(kFingerprint);
  for (int i = 0; i < 16; ++i) block.meta.tokens.push_back(TokenId{static_cast<int32_t>(16 * number + i)});
  block.place = {.key = ChainKey(block.meta.parent, DigestOf(Scope::Public()), block.meta.tokens),
                 .slot = SlotIndex{static_cast<uint32_t>(number)}};
  return block;
}

std::vector<Block> MakeBlocks(int64_t count) {
  std::vector<Block> blocks;
  for (int64_t i = 0; i < count; ++i) blocks.push_back(MakeBlock(i));
  return blocks;
}

std::vector<std::byte> BytesOf(int64_t block_bytes, uint64_t seed) {
  std::minstd_rand random(static_cast<uint32_t>(seed));
  std::vector<std::byte> bytes(static_cast<size_t>(block_bytes));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void Fill(Tier& tier, const std::vector<Block>& blocks, int64_t block_bytes) {
  std::vector<std::byte> bytes = BytesOf(block_bytes, 1);
  for (size_t i = 0; i < blocks.size();) {
    const std::unique_ptr<TierWriter> writer = tier.NewWriter();
    for (int64_t j = 0; j < tier.batch_blocks() && i < blocks.size(); ++j, ++i) {
      std::memcpy(bytes.data(), &i, sizeof(i));
      writer->Add(blocks[i].place, blocks[i].meta, {bytes, BlockChecksum(blocks[i].place.key, bytes)});
    }
    if (!writer->Commit().ok()) std::abort();
  }
}

void SetBytes(benchmark::State& state, int64_t blocks) {
  state.SetBytesProcessed(state.iterations() * blocks * state.range(0));
}

// --- host memory

void HostMemcpy(benchmark::State& state) {
  const int64_t blocks = BlocksOf(state.range(0));
  Device from(state.range(0));
  Device to(state.range(0));
  const std::vector<size_t> order = Order(blocks);
  for (auto _ : state) {
    for (size_t i = 0; i < order.size(); ++i) to.Put(i, from.Slot(order[i]));
  }
  SetBytes(state, blocks);
}

void HostRestore(benchmark::State& state) {
  const int64_t blocks = BlocksOf(state.range(0));
  const std::unique_ptr<HostMemory> memory = NewAnonymousMemory();
  const auto tier = *HostTier::Create({.capacity_blocks = blocks, .block_bytes = state.range(0)}, *memory);
  const std::vector<Block> all = MakeBlocks(blocks);
  Fill(*tier, all, state.range(0));
  std::vector<BlockPlace> places;
  for (const size_t i : Order(blocks)) places.push_back(all[i].place);
  Device to(state.range(0));
  for (auto _ : state) {
    const auto statuses = tier->Read(places, [&](size_t i, const BlockBytes& bytes) { to.Put(i, bytes.bytes.data()); });
    for (const absl::Status& status : statuses) {
      if (!status.ok()) state.SkipWithError("a block could not be read");
    }
  }
  SetBytes(state, blocks);
}

// --- disk

class Directory {
 public:
  Directory() {
    const char* const chosen = std::getenv("HEADSTART_BENCH_DIRECTORY");
    std::string pattern = (chosen != nullptr ? chosen : fs::temp_directory_path().string()) + "/headstart-bench-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Directory() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

  void DropFromCache() const {
    sync();
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      const int file = open(entry.path().c_str(), O_RDONLY);
      if (file < 0) continue;
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      close(file);
    }
  }

 private:
  std::string path_;
};

std::unique_ptr<DiskTier> OpenDisk(const Directory& directory, int64_t block_bytes, int64_t capacity) {
  auto tier = DiskTier::Open({.directory = directory.path() + "/cache",
                              .capacity_bytes = capacity,
                              .block_bytes = block_bytes,
                              .fingerprint = kFingerprint});
  if (!tier.ok()) std::abort();
  return *std::move(tier);
}

enum class Cache { kWarm, kCold };

void PlainFiles(benchmark::State& state, Cache cache) {
  const int64_t blocks = BlocksOf(state.range(0));
  const Directory directory;
  const std::vector<std::byte> bytes = BytesOf(state.range(0), 1);
  const auto path = [&](size_t block) { return directory.path() + "/" + std::to_string(block); };
  for (size_t i = 0; i < static_cast<size_t>(blocks); ++i) {
    const int file = open(path(i).c_str(), O_CREAT | O_WRONLY, 0600);
    if (write(file, bytes.data(), bytes.size()) != state.range(0)) std::abort();
    close(file);
  }
  const std::vector<size_t> order = Order(blocks);
  Device to(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    if (cache == Cache::kCold) directory.DropFromCache();
    state.ResumeTiming();
    for (size_t i = 0; i < order.size(); ++i) {
      const int file = open(path(order[i]).c_str(), O_RDONLY);
      if (read(file, to.Slot(i), to.size) != state.range(0)) std::abort();
      close(file);
    }
  }
  SetBytes(state, blocks);
}

void DiskRestore(benchmark::State& state, Cache cache) {
  const int64_t blocks = BlocksOf(state.range(0));
  const Directory directory;
  const std::vector<Block> all = MakeBlocks(blocks);
  auto tier = OpenDisk(directory, state.range(0), int64_t{4} << 30);
  Fill(*tier, all, state.range(0));
  tier.reset();
  tier = OpenDisk(directory, state.range(0), int64_t{4} << 30);
  std::vector<BlockPlace> places;
  for (const size_t i : Order(blocks)) places.push_back(all[i].place);
  Device to(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    if (cache == Cache::kCold) directory.DropFromCache();
    state.ResumeTiming();
    const auto statuses = tier->Read(places, [&](size_t i, const BlockBytes& bytes) { to.Put(i, bytes.bytes.data()); });
    for (const absl::Status& status : statuses) {
      if (!status.ok()) state.SkipWithError("a block could not be read");
    }
  }
  SetBytes(state, blocks);
}

void DiskStore(benchmark::State& state) {
  const int64_t blocks = BlocksOf(state.range(0));
  const std::vector<Block> all = MakeBlocks(blocks);
  for (auto _ : state) {
    state.PauseTiming();
    auto directory = std::make_unique<Directory>();
    auto tier = OpenDisk(*directory, state.range(0), int64_t{4} << 30);
    state.ResumeTiming();
    Fill(*tier, all, state.range(0));
    if (!tier->Sync().ok()) std::abort();
    state.PauseTiming();
    tier.reset();
    directory.reset();
    state.ResumeTiming();
  }
  SetBytes(state, blocks);
}

// --- a start

constexpr int64_t kRecords = 1'000'000;
constexpr int64_t kRecordsDisk = int64_t{64} << 30;

// A million blocks: sequences of a thousand.
void WriteRecords(const Directory& directory) {
  constexpr int64_t kDepth = 1000;
  auto tier = OpenDisk(directory, 1, kRecordsDisk);
  const std::byte byte{1};
  const ScopeDigest scope = DigestOf(Scope::Public());
  std::vector<Block> last(kRecords / kDepth);  // of each sequence
  for (int64_t depth = 0; depth < kDepth; ++depth) {
    const std::unique_ptr<TierWriter> writer = tier->NewWriter();
    for (size_t i = 0; i < last.size(); ++i) {
      Block block = MakeBlock(static_cast<int64_t>(i));
      if (depth > 0) block.meta.parent = last[i].place.key;
      block.meta.depth = static_cast<uint32_t>(depth);
      block.place.key = ChainKey(block.meta.parent, scope, block.meta.tokens);
      writer->Add(block.place, block.meta, {{&byte, 1}, BlockChecksum(block.place.key, {&byte, 1})});
      last[i] = std::move(block);
    }
    if (!writer->Commit().ok()) std::abort();
  }
  tier.reset();
  OpenDisk(directory, 1, kRecordsDisk).reset();  // what the log held goes to tables
}

void DiskRecover(benchmark::State& state) {
  const Directory directory;
  WriteRecords(directory);
  for (auto _ : state) {
    const auto tier = OpenDisk(directory, 1, kRecordsDisk);
    int64_t records = 0;
    const absl::Status status = tier->Recover([&](const PrefixKey&, const BlockMeta&) { return ++records > 0; });
    if (!status.ok() || records != kRecords) state.SkipWithError("records are missing");
  }
}

// The same, and the tree and the eviction policies over them.
void StoreRecover(benchmark::State& state) {
  const Directory directory;
  WriteRecords(directory);
  const std::unique_ptr<HostMemory> memory = NewAnonymousMemory();
  const auto above = *HostTier::Create({.capacity_blocks = 1024, .block_bytes = 1}, *memory);
  const std::unique_ptr<IoExecutor> io = NewThreadExecutor(1);
  for (auto _ : state) {
    const auto disk = OpenDisk(directory, 1, kRecordsDisk);
    PrefixStore store(
        {.block_tokens = 16, .device_blocks = 1024},
        {.device = above.get(), .host = above.get(), .disk = disk.get(), .io = io.get(), .fingerprint = kFingerprint});
    store.Recover();
    if (store.stats().disk_used_blocks != kRecords) state.SkipWithError("blocks are missing");
  }
}

constexpr int64_t kSmall = 144 << 10;                      // 16 tokens of a small model
constexpr int64_t kLarge = (18 << 20) / 10 / 4096 * 4096;  // 1.8 MiB: 16 tokens of a model of 8 billion weights, nearly

BENCHMARK(HostMemcpy)->Arg(kSmall)->Arg(kLarge)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(HostRestore)->Arg(kSmall)->Arg(kLarge)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlainFiles, Warm, Cache::kWarm)
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(DiskRestore, Warm, Cache::kWarm)
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlainFiles, Cold, Cache::kCold)
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(DiskRestore, Cold, Cache::kCold)
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(DiskStore)->Arg(kSmall)->Arg(kLarge)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(DiskRecover)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(StoreRecover)->Iterations(3)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headstart
