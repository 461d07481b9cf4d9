#include "prefix_store/tier/internal/record_codec.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "tests/prefix_store/tier/tier_blocks.h"
#include "tests/testing/status.h"

namespace headstart::internal {
namespace {

using ::headstart::testing::IsOk;
using ::headstart::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

constexpr PrefixKey kBlock{0x0102030405060708, 0x1112131415161718};

BlockRecord SomeRecord() {
  return {.meta = {.parent = {0x2122232425262728, 0x3132333435363738},
                   .scope = Scope::Tenant("acme", "s1"),
                   .tokens = {TokenId{1}, TokenId{-2}, TokenId{70000}},
                   .depth = 5,
                   .hits = 9,
                   .priority = -3,
                   .expires = absl::FromUnixSeconds(1767225600)},
          .checksum = 0x4142434445464748,
          .block_bytes = 147456};
}

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

// The format on disk. A change here makes every existing cache unreadable: raise the version and say so in
// docs/formats/disk.md.
TEST(RecordCodecTest, GoldenBytes) {
  EXPECT_EQ(Hex(EncodeRecordKey({.fingerprint = {1, 2}, .depth = 5, .block = kBlock})),
            "0000000000000001000000000000000200000005"
            "01020304050607081112131415161718");
  EXPECT_EQ(Hex(EncodeBytesKey({1, 2}, kBlock)), "0000000000000001000000000000000201020304050607081112131415161718");
  EXPECT_EQ(Hex(EncodeRecord(kBlock, SomeRecord())),
            "485342520100"                      // magic, version
            "0500000009000000"                  // depth, hits
            "fd00b9556900000000"                // priority, expiry
            "004002004847464544434241"          // size, checksum
            "28272625242322213837363534333231"  // parent
            "010400000061636d65020000007331"    // scope
            "030001000000feffffff70110100"      // tokens
            "19f767dff3d7fe6c");                // checksum
  const std::vector<std::byte> bytes(3, std::byte{7});
  EXPECT_EQ(Hex(EncodeTrailer({bytes, 0x4142434445464748})), "48534242030000004847464544434241");
  EXPECT_EQ(BlockChecksum(kBlock, bytes), 6666636087268244063u);
}

TEST(RecordCodecTest, RecordsComeBackAsTheyWere) {
  std::vector<BlockRecord> records(4, SomeRecord());
  records[1].meta.scope = Scope::Public();
  records[1].meta.expires = absl::InfiniteFuture();
  records[2].meta.tokens.assign(kMaxBlockTokens, TokenId{3});
  records[2].meta.expires = absl::InfinitePast();
  records[3].meta.scope = Scope::Tenant(std::string(100000, 't'), std::string("\0x", 2));
  records[3].meta.tokens.clear();
  for (const BlockRecord& record : records) {
    const absl::StatusOr<BlockRecord> decoded = DecodeRecord(kBlock, EncodeRecord(kBlock, record));
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(*decoded, record);
  }
}

TEST(RecordCodecTest, EveryFlippedBitIsFound) {
  const std::string good = EncodeRecord(kBlock, SomeRecord());
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_THAT(DecodeRecord(kBlock, bad), StatusIs(absl::StatusCode::kDataLoss, _)) << bit;
  }
}

TEST(RecordCodecTest, EveryCutIsFound) {
  const std::string good = EncodeRecord(kBlock, SomeRecord());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(DecodeRecord(kBlock, good.substr(0, size)), StatusIs(absl::StatusCode::kDataLoss, _)) << size;
  }
  EXPECT_THAT(DecodeRecord(kBlock, good + "x"), StatusIs(absl::StatusCode::kDataLoss, _));
}

TEST(RecordCodecTest, ARecordUnderAnotherKeyIsFound) {
  EXPECT_THAT(DecodeRecord({1, 2}, EncodeRecord(kBlock, SomeRecord())), StatusIs(absl::StatusCode::kDataLoss, _));
}

TEST(RecordCodecTest, RecordKeysSortByDepthWithinAFingerprint) {
  const auto key = [](uint64_t low, uint32_t depth, uint64_t block) {
    return EncodeRecordKey({.fingerprint = {1, low}, .depth = depth, .block = {block, 0}});
  };
  EXPECT_LT(key(2, 255, 9), key(2, 256, 1));
  EXPECT_LT(key(2, ~uint32_t{0}, 9), key(3, 0, 1));
  EXPECT_LT(key(2, ~uint32_t{0}, 9), KeysAfter({1, 2}));
  EXPECT_LE(KeysOf({1, 2}), key(2, 0, 0));
  EXPECT_EQ(KeysAfter({1, ~uint64_t{0}}), KeysOf({2, 0}));
  EXPECT_EQ(KeysAfter({~uint64_t{0}, ~uint64_t{0}}), "");
}

TEST(RecordCodecTest, BytesAreVerifiedWithTheirKey) {
  const std::vector<std::byte> bytes = headstart::testing::RandomBytes(4096, 1);
  std::string stored(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  stored += EncodeTrailer({bytes, BlockChecksum(kBlock, bytes)});
  ASSERT_THAT(DecodeBytes(kBlock, 4096, stored), IsOk());
  EXPECT_THAT(DecodeBytes({1, 2}, 4096, stored), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("another block's")));
  EXPECT_THAT(DecodeBytes(kBlock, 4095, stored), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4112 bytes")));
  for (size_t i = 0; i < stored.size(); i += 61) {
    std::string bad = stored;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_THAT(DecodeBytes(kBlock, 4096, bad), StatusIs(absl::StatusCode::kDataLoss, _)) << i;
  }
}

}  // namespace
}  // namespace headstart::internal
