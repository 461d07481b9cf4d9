// A disk tier in a directory of its own, opened and closed by short verbs.

#ifndef HEADSTART_TESTS_PREFIX_STORE_TIER_DISK_FIXTURE_H_
#define HEADSTART_TESTS_PREFIX_STORE_TIER_DISK_FIXTURE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "prefix_store/mutex.h"
#include "prefix_store/tier/disk_tier.h"
#include "rocksdb/env.h"
#include "tests/prefix_store/tier/tier_blocks.h"
#include "tests/testing/status.h"

namespace headstart::testing {

class DiskTest : public ::testing::Test {
 protected:
  static constexpr Fingerprint kFingerprint{0x1122334455667788, 0x99aabbccddeeff00};

  DiskTest() {
    std::string pattern = ::testing::TempDir() + "/headstart-disk-XXXXXX";
    root_ = mkdtemp(pattern.data());
    directory_ = root_ + "/cache";
  }
  ~DiskTest() override {
    tier_.reset();
    std::filesystem::remove_all(root_);
  }

  DiskTierOptions Options() {
    return {.directory = directory_,
            .capacity_bytes = capacity_bytes_,
            .block_bytes = static_cast<int64_t>(block_bytes_),
            .fingerprint = fingerprint_,
            .on_event =
                [this](DiskEventSeverity, std::string_view text) {
                  MutexLock lock(mutex_);
                  events_.emplace_back(text);
                },
            .env = env_};
  }

  absl::Status TryOpen() {
    absl::StatusOr<std::unique_ptr<DiskTier>> tier = DiskTier::Open(Options());
    if (!tier.ok()) return tier.status();
    tier_ = *std::move(tier);
    return absl::OkStatus();
  }
  void Open() { ASSERT_OK(TryOpen()); }
  void Close() { tier_.reset(); }
  void Reopen() {
    Close();
    Open();
  }

  std::vector<TestBlock> Chain(int blocks, int first_token = 0) const {
    return MakeChain(fingerprint_, blocks, block_bytes_, first_token);
  }

  // Keys of what the tier says it has from before.
  std::vector<PrefixKey> Recovered() {
    std::vector<PrefixKey> keys;
    EXPECT_OK(tier_->Recover([&](const PrefixKey& key, const BlockMeta&) {
      keys.push_back(key);
      return true;
    }));
    return keys;
  }

  bool SaidThat(std::string_view text) {
    MutexLock lock(mutex_);
    for (const std::string& event : events_) {
      if (event.find(text) != std::string::npos) return true;
    }
    return false;
  }

  std::string root_;
  std::string directory_;
  size_t block_bytes_ = 4096;
  int64_t capacity_bytes_ = 64 << 20;
  Fingerprint fingerprint_ = kFingerprint;
  rocksdb::Env* env_ = nullptr;
  std::unique_ptr<DiskTier> tier_;

 private:
  Mutex mutex_;
  std::vector<std::string> events_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_PREFIX_STORE_TIER_DISK_FIXTURE_H_
