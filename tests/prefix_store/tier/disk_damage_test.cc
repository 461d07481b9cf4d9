// Damage on disk: whatever is done to the files, the tier opens, hands out no wrong byte, and goes on storing. D2, P6.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "prefix_store/tier/internal/block_database.h"
#include "prefix_store/tier/internal/record_codec.h"
#include "rocksdb/write_batch.h"
#include "tests/prefix_store/tier/disk_fixture.h"
#include "xxhash.h"

namespace headstart::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DiskDamageTest : public DiskTest {
 protected:
  DiskDamageTest() { capacity_bytes_ = 8 << 20; }

  // A store with tables, blob files and a log that is not empty, closed; its blocks.
  std::vector<TestBlock> WriteStore() {
    Open();
    EXPECT_OK(tier_->PutNamed("pin", "kept"));
    const std::vector<TestBlock> chain = Chain(120);
    for (size_t i = 0; i < chain.size(); i += 10) {
      EXPECT_OK(Store(*tier_, std::span(chain).subspan(i, 10)));
      // Opening writes what the log holds to a table and a blob file.
      if (i == 40 || i == 80) Reopen();
    }
    EXPECT_OK(tier_->PutNamed("pin", "kept again"));
    Close();
    return chain;
  }

  void Keep() { fs::copy(directory_, root_ + "/kept", fs::copy_options::recursive); }
  void Restore() {
    fs::remove_all(directory_);
    fs::copy(root_ + "/kept", directory_, fs::copy_options::recursive);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
      if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  static void FlipByte(const std::string& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 0x10));
  }

  // What must hold after any damage; returns how many blocks are left.
  int ExpectServes(std::span<const TestBlock> chain) {
    EXPECT_OK(TryOpen());
    if (tier_ == nullptr) return -1;
    EXPECT_LE(Recovered().size(), chain.size());
    const int left = ReadableBlocks(*tier_, chain);
    EXPECT_GE(left, 0) << "a wrong byte was handed out";
    const std::vector<TestBlock> fresh = Chain(3, 1 << 20);
    EXPECT_OK(Store(*tier_, fresh));
    EXPECT_EQ(ReadableBlocks(*tier_, fresh), 3);
    EXPECT_OK(tier_->Probe());
    Close();
    return left;
  }

  // Opens the block database below the tier, to do what no tier does.
  std::unique_ptr<internal::BlockDatabase> OpenBelow() {
    auto opened = internal::BlockDatabase::Open({.path = directory_ + "/blocks", .env = rocksdb::Env::Default()},
                                                internal::BlockDatabase::Access::kReadWrite);
    EXPECT_TRUE(opened.status.ok()) << opened.status.ToString();
    return std::move(opened.database);
  }
  std::string BytesKey(const TestBlock& block) { return internal::EncodeBytesKey(fingerprint_, block.place.key); }
  std::string RecordKey(const TestBlock& block) {
    return internal::EncodeRecordKey({fingerprint_, block.meta.depth, block.place.key});
  }
  static std::string Get(internal::BlockDatabase& database, rocksdb::ColumnFamilyHandle* family,
                         const std::string& key) {
    std::string value;
    EXPECT_TRUE(database.db().Get({}, family, key, &value).ok());
    return value;
  }
};

TEST_F(DiskDamageTest, OneFlippedByteInAnyFile) {
  const std::vector<TestBlock> chain = WriteStore();
  Keep();
  constexpr uint64_t kPlaces = 6;
  for (const std::string& path : Files()) {
    const uint64_t size = fs::file_size(path);
    for (uint64_t i = 0; i < kPlaces; ++i) {
      const uint64_t offset = (size - 1) * i / (kPlaces - 1);
      SCOPED_TRACE(path + " at " + std::to_string(offset));
      FlipByte(path, offset);
      ExpectServes(chain);
      Restore();
    }
  }
}

TEST_F(DiskDamageTest, AnyFileCutShortEmptiedOrGone) {
  const std::vector<TestBlock> chain = WriteStore();
  Keep();
  for (const std::string& path : Files()) {
    SCOPED_TRACE(path);
    fs::resize_file(path, fs::file_size(path) / 2);
    ExpectServes(chain);
    Restore();
    fs::resize_file(path, 0);
    ExpectServes(chain);
    Restore();
    if (path.ends_with("HEADSTART_CACHE")) continue;  // without it the directory is not known to be ours
    fs::remove(path);
    ExpectServes(chain);
    Restore();
  }
}

TEST_F(DiskDamageTest, ADamagedByteOfABlockEndsTheHitBeforeIt) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    std::string value = Get(*below, below->bytes(), BytesKey(chain[5]));
    value[1234] = static_cast<char>(value[1234] ^ 1);
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[5]), value).ok());
  }
  Open();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 5);
  EXPECT_EQ(Fetch(*tier_, chain[5]), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Fetch(*tier_, chain[6]), absl::StatusCode::kOk);
  EXPECT_EQ(Counter(*tier_, "damaged_blocks"), 2);
}

TEST_F(DiskDamageTest, ABlockCutShortEndsTheHitBeforeIt) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    const std::string value = Get(*below, below->bytes(), BytesKey(chain[5]));
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[5]), value.substr(0, value.size() - 1)).ok());
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[7]), "").ok());
  }
  Open();
  EXPECT_EQ(Fetch(*tier_, chain[5]), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Fetch(*tier_, chain[7]), absl::StatusCode::kDataLoss);
}

TEST_F(DiskDamageTest, TwoSwappedBlocksAreBothFound) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    const std::string third = Get(*below, below->bytes(), BytesKey(chain[3]));
    const std::string ninth = Get(*below, below->bytes(), BytesKey(chain[9]));
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[3]), ninth).ok());
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[9]), third).ok());
  }
  Open();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 3);
  std::vector<uint32_t> bad;
  ASSERT_OK_AND_ASSIGN(const VerifyReport report,
                       tier_->Verify([&](const BadBlock& block) { bad.push_back(block.depth); }));
  EXPECT_EQ(report.blocks, 120);
  EXPECT_THAT(bad, ElementsAre(3, 9));
}

TEST_F(DiskDamageTest, ADeletedBlockEndsTheHitBeforeIt) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    ASSERT_TRUE(below->db().Delete({}, below->bytes(), BytesKey(chain[4])).ok());
  }
  Open();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 4);
  EXPECT_EQ(Counter(*tier_, "missing_blocks"), 1);
}

// D6: without its parent no record is ever a hit.
TEST_F(DiskDamageTest, RecordsWithoutTheirParentAreRemoved) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    ASSERT_TRUE(below->db().Delete({}, below->records(), RecordKey(chain[100])).ok());
  }
  Open();
  EXPECT_THAT(Recovered(), SizeIs(100));
  EXPECT_EQ(Counter(*tier_, "bad_records"), 19);
  EXPECT_EQ(Fetch(*tier_, chain[101]), absl::StatusCode::kNotFound);
  EXPECT_THAT(Recovered(), SizeIs(100));
  EXPECT_EQ(Counter(*tier_, "bad_records"), 19);
}

TEST_F(DiskDamageTest, RecordsThatCannotBeReadOrLieUnderAnotherKeyAreRemoved) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    const std::string record = Get(*below, below->records(), RecordKey(chain[119]));
    ASSERT_TRUE(below->db().Put({}, below->records(), RecordKey(chain[118]), record).ok());
    ASSERT_TRUE(below->db().Put({}, below->records(), RecordKey(chain[117]), "").ok());
    ASSERT_TRUE(below->db().Put({}, below->records(), RecordKey(chain[119]) + "x", record).ok());
  }
  Open();
  EXPECT_THAT(Recovered(), SizeIs(117));
  EXPECT_EQ(Counter(*tier_, "bad_records"), 4);
}

// T6.
TEST_F(DiskDamageTest, BlocksOfAnotherSizeUnderTheSameFingerprintAreRemoved) {
  const std::vector<TestBlock> chain = WriteStore();
  block_bytes_ = 8192;
  Open();
  EXPECT_EQ(Fetch(*tier_, chain[0]), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Recovered(), IsEmpty());
  EXPECT_EQ(Counter(*tier_, "bad_records"), 120);
  EXPECT_EQ(Fetch(*tier_, chain[0]), absl::StatusCode::kNotFound);
}

TEST_F(DiskDamageTest, ANewerFormatIsRefusedAndLeftAlone) {
  const std::vector<TestBlock> chain = WriteStore();
  Keep();
  const std::string line = "Headstart prefix cache, format 2\n";
  char checksum[32];
  std::snprintf(checksum, sizeof(checksum), "%016llx\n",
                static_cast<unsigned long long>(XXH3_64bits(line.data(), line.size())));
  std::ofstream(directory_ + "/HEADSTART_CACHE") << line << checksum;
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                  AllOf(HasSubstr("format 2"), HasSubstr("newer program"), HasSubstr("delete"))));
  fs::copy_file(root_ + "/kept/HEADSTART_CACHE", directory_ + "/HEADSTART_CACHE", fs::copy_options::overwrite_existing);
  Open();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 120);
}

TEST_F(DiskDamageTest, VerifyingAStoppedStoreNamesTheBadBlocksAndChangesNothing) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[2]), "short").ok());
    ASSERT_TRUE(below->db().Delete({}, below->bytes(), BytesKey(chain[8])).ok());
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<PrefixKey> bad;
    ASSERT_OK_AND_ASSIGN(const VerifyReport report, DiskTier::VerifyDirectory(directory_, [&](const BadBlock& block) {
                           EXPECT_FALSE(block.status.ok());
                           bad.push_back(block.key);
                         }));
    EXPECT_EQ(report.blocks, 120);
    EXPECT_THAT(bad, ElementsAre(chain[2].place.key, chain[8].place.key));
  }
}

// The scan sees what was there when it began.
TEST_F(DiskDamageTest, ABlockThatIsRemovedWhileAllAreVerifiedIsNotCalledBad) {
  const std::vector<TestBlock> chain = WriteStore();
  {
    const auto below = OpenBelow();
    ASSERT_TRUE(below->db().Put({}, below->bytes(), BytesKey(chain[2]), "short").ok());
  }
  Open();
  ASSERT_OK_AND_ASSIGN(const VerifyReport report, tier_->Verify([&](const BadBlock& block) {
    EXPECT_EQ(block.depth, 2u);
    EXPECT_OK(tier_->Remove({&chain[8].place, 1}));
  }));
  EXPECT_EQ(report.blocks, 119);
  EXPECT_EQ(report.bad_blocks, 1);
}

// Collecting garbage reads blocks that nobody asked for, and RocksDB stops for good when one is damaged.
TEST_F(DiskDamageTest, DamageMetByGarbageCollectionCostsTheDamagedBlocksAlone) {
  block_bytes_ = 16 << 10;
  Open();
  int sequences = 0;
  const auto new_block = [&] { return Chain(1, 16 * ++sequences)[0]; };
  std::vector<TestBlock> live;
  while (static_cast<int64_t>(live.size()) < tier_->capacity_blocks()) {
    live.push_back(new_block());
    ASSERT_OK(Store(*tier_, std::span(live).last(1)));
  }
  Reopen();  // all blocks are in blob files now
  Close();
  int damaged = 0;
  for (const std::string& path : Files()) {
    // One byte among the bytes of blocks, and one of what RocksDB puts before them, which reading a block does not see.
    if (path.ends_with(".blob")) FlipByte(path, ++damaged % 2 == 0 ? fs::file_size(path) / 2 : 40);
  }
  Open();
  // New blocks take the place of old ones all over the files, but for a third that stays: so every file has
  // garbage and live blocks.
  absl::Status failure;
  std::vector<TestBlock> fresh;
  const size_t staying = live.size() / 3;
  for (size_t step = 0; step < 2000 && failure.ok(); ++step) {
    std::vector<TestBlock>& from = live.size() > staying ? live : fresh;
    std::swap(from[(step * 7919) % from.size()], from.back());
    ASSERT_OK(tier_->Remove(PlacesOf(std::span(from).last(1))));
    from.pop_back();
    fresh.push_back(new_block());
    failure = Store(*tier_, std::span(fresh).last(1));
  }
  ASSERT_EQ(failure.code(), absl::StatusCode::kUnavailable) << failure;
  fresh.pop_back();
  for (const TestBlock& block : fresh) EXPECT_EQ(Fetch(*tier_, block), absl::StatusCode::kOk);
  ASSERT_OK(tier_->Probe());
  EXPECT_EQ(Counter(*tier_, "reopened"), 1);
  EXPECT_EQ(Counter(*tier_, "started_empty"), 0);
  EXPECT_GT(Counter(*tier_, "bad_records"), 0);
  EXPECT_LE(Counter(*tier_, "bad_records"), damaged);
  for (const TestBlock& block : fresh) EXPECT_EQ(Fetch(*tier_, block), absl::StatusCode::kOk);
  // Once is enough: nothing damaged is left to be met again.
  for (int i = 0; i < 400; ++i) {
    ASSERT_OK(tier_->Remove(PlacesOf(std::span(fresh).first(1))));
    fresh.erase(fresh.begin());
    fresh.push_back(new_block());
    ASSERT_OK(Store(*tier_, std::span(fresh).last(1)));
  }
}

}  // namespace
}  // namespace headstart::testing
