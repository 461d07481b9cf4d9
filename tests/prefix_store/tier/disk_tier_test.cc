#include "prefix_store/tier/disk_tier.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/prefix_store/tier/disk_fixture.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using DiskTierTest = DiskTest;

TEST_F(DiskTierTest, GivesBackWhatWasStored) {
  Open();
  const std::vector<TestBlock> chain = Chain(8);
  ASSERT_OK(Store(*tier_, chain));
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 8);
  EXPECT_EQ(Counter(*tier_, "written_blocks"), 8);
  EXPECT_EQ(Counter(*tier_, "read_blocks"), 8);
}

TEST_F(DiskTierTest, AFirstStartIsNothingToWarnOf) {
  Open();
  EXPECT_FALSE(SaidThat("")) << "of anything";
}

TEST_F(DiskTierTest, BlocksOutliveTheTier) {
  Open();
  const std::vector<TestBlock> chain = Chain(8);
  ASSERT_OK(Store(*tier_, chain));
  Reopen();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 8);
}

TEST_F(DiskTierTest, RecoverGivesParentsFirstAndAllThatWasKnown) {
  Open();
  std::vector<TestBlock> a = Chain(3);
  a[1].meta.expires = absl::FromUnixSeconds(4102444800);
  a[2].meta.priority = 7;
  const std::vector<TestBlock> b = MakeChain(fingerprint_, 2, block_bytes_, 5000, Scope::Tenant("acme", "salt"));
  ASSERT_OK(Store(*tier_, b));
  ASSERT_OK(Store(*tier_, a));
  Reopen();
  std::map<PrefixKey, BlockMeta> known;
  ASSERT_OK(tier_->Recover([&](const PrefixKey& key, const BlockMeta& meta) {
    EXPECT_TRUE(meta.depth == 0 || known.contains(meta.parent));
    known[key] = meta;
    return true;
  }));
  EXPECT_THAT(known, SizeIs(5));
  for (const TestBlock& block : a) EXPECT_EQ(known[block.place.key], block.meta);
  for (const TestBlock& block : b) EXPECT_EQ(known[block.place.key], block.meta);
}

TEST_F(DiskTierTest, RecoverStopsWhenAsked) {
  Open();
  ASSERT_OK(Store(*tier_, Chain(5)));
  int visits = 0;
  ASSERT_OK(tier_->Recover([&](const PrefixKey&, const BlockMeta&) { return ++visits < 2; }));
  EXPECT_EQ(visits, 2);
  EXPECT_THAT(Recovered(), SizeIs(5));
}

TEST_F(DiskTierTest, RemovedBlocksAreGoneAlsoAfterReopening) {
  Open();
  const std::vector<TestBlock> chain = Chain(4);
  ASSERT_OK(Store(*tier_, chain));
  ASSERT_OK(tier_->Remove(PlacesOf(std::span(chain).last(2))));
  EXPECT_EQ(Fetch(*tier_, chain[2]), absl::StatusCode::kNotFound);
  Reopen();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 2);
  EXPECT_THAT(Recovered(), ElementsAre(chain[0].place.key, chain[1].place.key));
}

TEST_F(DiskTierTest, RemovingWhatIsNotThereIsNoError) {
  Open();
  EXPECT_OK(tier_->Remove(PlacesOf(Chain(2))));
}

TEST_F(DiskTierTest, AWriterThatDoesNotCommitStoresNothing) {
  Open();
  const std::vector<TestBlock> chain = Chain(1);
  tier_->NewWriter()->Add(chain[0].place, chain[0].meta, {chain[0].bytes, chain[0].checksum});
  EXPECT_EQ(Fetch(*tier_, chain[0]), absl::StatusCode::kNotFound);
  EXPECT_THAT(Recovered(), IsEmpty());
}

TEST_F(DiskTierTest, EachBlockOfAReadHasItsOwnStatus) {
  Open();
  const std::vector<TestBlock> chain = Chain(3);
  ASSERT_OK(Store(*tier_, std::span(chain).first(1)));
  ASSERT_OK(Store(*tier_, std::span(chain).last(1)));
  std::vector<size_t> handed_over;
  const std::vector<absl::Status> statuses =
      tier_->Read(PlacesOf(chain), [&](size_t index, const BlockBytes&) { handed_over.push_back(index); });
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_TRUE(absl::IsNotFound(statuses[1]));
  EXPECT_TRUE(statuses[2].ok());
  EXPECT_THAT(handed_over, ElementsAre(0, 2));
}

TEST_F(DiskTierTest, TheSameBlockStoredTwiceIsOneBlock) {
  Open();
  const std::vector<TestBlock> chain = Chain(2);
  ASSERT_OK(Store(*tier_, chain));
  ASSERT_OK(Store(*tier_, chain));
  EXPECT_THAT(Recovered(), SizeIs(2));
}

TEST_F(DiskTierTest, NamedRecordsAreKeptInOrder) {
  Open();
  ASSERT_OK(tier_->PutNamed("b", "two"));
  ASSERT_OK(tier_->PutNamed("a", std::string("\0one", 4)));
  ASSERT_OK(tier_->PutNamed("c", "three"));
  ASSERT_OK(tier_->RemoveNamed("c"));
  Reopen();
  std::vector<std::pair<std::string, std::string>> seen;
  ASSERT_OK(tier_->ForEachNamed([&](std::string_view id, std::string_view bytes) { seen.emplace_back(id, bytes); }));
  EXPECT_THAT(seen, ElementsAre(std::pair("a", std::string("\0one", 4)), std::pair("b", "two")));
}

// T5, T6: blocks of another model, layout or block size are no hit, and go.
TEST_F(DiskTierTest, RecordsOfOtherFingerprintsAreRemoved) {
  Open();
  const std::vector<TestBlock> old_chain = Chain(6);
  ASSERT_OK(Store(*tier_, old_chain));
  ASSERT_OK(tier_->PutNamed("pin", "kept"));
  Close();
  for (const Fingerprint other : {Fingerprint{1, 2}, Fingerprint{~uint64_t{0}, ~uint64_t{0}}}) {
    fingerprint_ = other;
    Open();
    tier_->WaitForCleaning();
    EXPECT_THAT(Recovered(), IsEmpty());
    EXPECT_EQ(Fetch(*tier_, old_chain[0]), absl::StatusCode::kNotFound);
    ASSERT_OK(Store(*tier_, Chain(2)));
    Close();
  }
  fingerprint_ = kFingerprint;
  Open();
  tier_->WaitForCleaning();
  EXPECT_EQ(Counter(*tier_, "foreign_records"), 2);
  EXPECT_THAT(Recovered(), IsEmpty());
  int named = 0;
  ASSERT_OK(tier_->ForEachNamed([&](std::string_view, std::string_view) { ++named; }));
  EXPECT_EQ(named, 1);
}

TEST_F(DiskTierTest, RecordsOfTheOwnFingerprintSurviveTheCleaningOfOthers) {
  Open();
  const std::vector<TestBlock> old_chain = Chain(3);
  ASSERT_OK(Store(*tier_, old_chain));
  fingerprint_ = {5, 6};
  Reopen();
  const std::vector<TestBlock> chain = Chain(4);
  ASSERT_OK(Store(*tier_, chain));
  tier_->WaitForCleaning();
  EXPECT_EQ(Counter(*tier_, "foreign_records"), 3);
  Reopen();
  EXPECT_EQ(ReadableBlocks(*tier_, chain), 4);
}

TEST_F(DiskTierTest, TwoOpensOfOneDirectoryAreRefused) {
  Open();
  EXPECT_THAT(DiskTier::Open(Options()),
              StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr(directory_), HasSubstr("in use"))));
  EXPECT_OK(Store(*tier_, Chain(1)));
}

TEST_F(DiskTierTest, ADirectoryOfSomethingElseIsRefusedAndLeftAlone) {
  std::filesystem::create_directory(directory_);
  std::ofstream(directory_ + "/thesis.txt") << "years of work";
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                  AllOf(HasSubstr("not a cache directory"), HasSubstr("thesis.txt"))));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(DiskTierTest, ANewerFormatIsRefusedAndLeftAlone) {
  Open();
  const std::vector<TestBlock> chain = Chain(2);
  ASSERT_OK(Store(*tier_, chain));
  Close();
  const std::string marker = directory_ + "/HEADSTART_CACHE";
  std::filesystem::copy_file(marker, root_ + "/marker");
  // The line and its XXH3-64, as docs/formats/disk.md specifies it for every format.
  std::ofstream(marker) << "Headstart prefix cache, format 2\n3a3d2b8f0c5d1e6f\n";
  EXPECT_OK(TryOpen());  // that checksum is wrong: damage, not a newer format
  Close();
}

TEST_F(DiskTierTest, OptionsThatCannotWorkAreRefused) {
  DiskTierOptions options = Options();
  options.directory.clear();
  EXPECT_THAT(DiskTier::Open(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("directory")));
  options = Options();
  options.block_bytes = 0;
  EXPECT_THAT(DiskTier::Open(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0 bytes")));
  options = Options();
  options.capacity_bytes = 4096;
  EXPECT_THAT(DiskTier::Open(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least")));
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(DiskTierTest, VerifyFindsNothingWrongWithGoodBlocks) {
  Open();
  ASSERT_OK(Store(*tier_, Chain(10)));
  ASSERT_OK_AND_ASSIGN(const VerifyReport open, tier_->Verify([](const BadBlock&) { ADD_FAILURE(); }));
  EXPECT_EQ(open.blocks, 10);
  Close();
  ASSERT_OK_AND_ASSIGN(const VerifyReport closed,
                       DiskTier::VerifyDirectory(directory_, [](const BadBlock&) { ADD_FAILURE(); }));
  EXPECT_EQ(closed.blocks, 10);
  EXPECT_GE(closed.bytes, static_cast<int64_t>(10 * block_bytes_));
}

// The last blocks of a prompt are evicted, and written, before its first ones.
TEST_F(DiskTierTest, VerifyCallsBlocksThatWaitForTheirPrefixGoodAndCountsThem) {
  Open();
  const std::vector<TestBlock> chain = Chain(10);
  ASSERT_OK(Store(*tier_, std::span(chain).subspan(4)));
  ASSERT_OK(Store(*tier_, std::span(chain).first(2)));
  ASSERT_OK_AND_ASSIGN(const VerifyReport report, tier_->Verify([](const BadBlock&) { ADD_FAILURE(); }));
  EXPECT_EQ(report.blocks, 8);
  EXPECT_EQ(report.orphan_blocks, 6);
  EXPECT_GE(report.bytes, static_cast<int64_t>(8 * block_bytes_)) << "their bytes are read as well";
}

TEST_F(DiskTierTest, VerifyingADirectoryInUseOrMissingIsRefused) {
  Open();
  EXPECT_THAT(DiskTier::VerifyDirectory(directory_, [](const BadBlock&) {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
  EXPECT_THAT(DiskTier::VerifyDirectory(root_ + "/none", [](const BadBlock&) {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no cache")));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/none"));
}

TEST_F(DiskTierTest, ClearForgetsTheBlocksForGoodAndKeepsTheNames) {
  Open();
  const std::vector<TestBlock> chain = Chain(64);
  ASSERT_OK(Store(*tier_, chain));
  ASSERT_OK(tier_->PutNamed("pin", "kept"));
  Reopen();
  ASSERT_OK(Store(*tier_, Chain(8, 5000)));
  ASSERT_OK(tier_->Clear());
  EXPECT_EQ(Fetch(*tier_, chain[0]), absl::StatusCode::kNotFound);
  EXPECT_THAT(Recovered(), IsEmpty());
  ASSERT_OK(Store(*tier_, Chain(3, 9000)));
  Reopen();
  EXPECT_THAT(Recovered(), SizeIs(3));
  EXPECT_EQ(ReadableBlocks(*tier_, Chain(3, 9000)), 3);
  int named = 0;
  ASSERT_OK(tier_->ForEachNamed([&](std::string_view, std::string_view) { ++named; }));
  EXPECT_EQ(named, 1);
  ASSERT_OK(tier_->Clear());
  ASSERT_OK(tier_->Clear()) << "of nothing";
}

TEST_F(DiskTierTest, ReadersBesideAClearFindTheirBlockOrNothing) {
  Open();
  const std::vector<TestBlock> chain = Chain(32);
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const absl::StatusCode code = Fetch(*tier_, chain[7]);
        EXPECT_TRUE(code == absl::StatusCode::kOk || code == absl::StatusCode::kNotFound) << static_cast<int>(code);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(Store(*tier_, chain));
    ASSERT_OK(tier_->Clear());
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(DiskTierTest, ReadersRunBesideAWriter) {
  Open();
  const std::vector<TestBlock> chain = Chain(64);
  ASSERT_OK(Store(*tier_, chain));
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) EXPECT_EQ(ReadableBlocks(*tier_, chain), 64);
    });
  }
  for (int i = 1; i <= 50; ++i) {
    const std::vector<TestBlock> other = Chain(16, 100000 * i);
    ASSERT_OK(Store(*tier_, other));
    ASSERT_OK(tier_->Remove(PlacesOf(other)));
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace headstart::testing
