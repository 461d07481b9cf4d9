#include "prefix_store/registry/prefix_codec.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/prefix_store/store_harness.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

PrefixRecord Record(const Scope& scope = Scope::Tenant("acme", "salt")) {
  return {.prefix = {.id = "support",
                     .scope = scope,
                     .tokens = Count(-2, 40),
                     .display_name = "Kundendienst ✓",
                     .created = absl::FromUnixMicros(1'700'000'000'123'456),
                     .expires = absl::FromUnixSeconds(1'800'000'000)},
          .vocabulary = 0x1122334455667788};
}

std::string NameOf(const PrefixRecord& record) { return PrefixRecordName(record.prefix.scope, record.prefix.id); }

TEST(PrefixCodec, WhatGoesInComesOut) {
  PrefixRecord never = Record();
  never.prefix.expires = absl::InfiniteFuture();
  PrefixRecord bare{.prefix = {.id = "x", .tokens = Count(0, 1)}};
  for (const PrefixRecord& record : {Record(), Record(Scope::Public()), never, bare}) {
    const auto back = DecodePrefix(NameOf(record), EncodePrefix(record));
    ASSERT_OK(back);
    EXPECT_EQ(*back, record);
  }
}

TEST(PrefixCodec, NamesAreDifferentWhateverConcatenatesAlike) {
  std::set<std::string> names = {
      PrefixRecordName(Scope::Public(), "a"),          PrefixRecordName(Scope::Tenant(""), "a"),
      PrefixRecordName(Scope::Tenant("ab", "c"), "d"), PrefixRecordName(Scope::Tenant("a", "bc"), "d"),
      PrefixRecordName(Scope::Tenant("a", "b"), "cd"), PrefixRecordName(Scope::Tenant("abc"), "d")};
  EXPECT_EQ(names.size(), 6);
  for (const std::string& name : names) EXPECT_TRUE(IsPrefixRecordName(name));
  EXPECT_FALSE(IsPrefixRecordName("price book"));
}

TEST(PrefixCodec, EveryChangedByteShows) {
  const std::string whole = EncodePrefix(Record());
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      EXPECT_FALSE(DecodePrefix(NameOf(Record()), bytes).ok()) << "byte " << i;
    }
  }
}

TEST(PrefixCodec, EveryShorterRecordShows) {
  const std::string whole = EncodePrefix(Record());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(DecodePrefix(NameOf(Record()), whole.substr(0, size)),
                StatusIs(absl::StatusCode::kDataLoss, ::testing::_));
  }
  EXPECT_THAT(DecodePrefix(NameOf(Record()), whole + "x"), StatusIs(absl::StatusCode::kDataLoss, ::testing::_));
}

TEST(PrefixCodec, ARecordUnderAnotherNameIsNoGood) {
  EXPECT_THAT(DecodePrefix(PrefixRecordName(Scope::Tenant("other"), "support"), EncodePrefix(Record())),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("name")));
}

TEST(PrefixCodec, ANewerVersionIsSaidToBeNewer) {
  std::string bytes = EncodePrefix(Record());
  bytes[4] = 2;
  EXPECT_THAT(DecodePrefix(NameOf(Record()), bytes),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("version 2")));
}

}  // namespace
}  // namespace headstart::testing
