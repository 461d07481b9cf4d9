// Money, price books, charges and the two conventions of counting tokens.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "absl/time/time.h"
#include "gateway/accounting/charge.h"
#include "gateway/accounting/money.h"
#include "gateway/accounting/no_account.h"
#include "gateway/accounting/price_book.h"
#include "gateway/accounting/token_conventions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// --- money

TEST(MoneyTest, DecimalsAreReadExactly) {
  EXPECT_EQ(*ParseNanos("0"), 0);
  EXPECT_EQ(*ParseNanos("0.1"), 100'000'000);
  EXPECT_EQ(*ParseNanos("3"), 3'000'000'000);
  EXPECT_EQ(*ParseNanos("0.000000001"), 1);
  EXPECT_EQ(*ParseNanos("007.50"), 7'500'000'000);
  EXPECT_EQ(*ParseNanos("9223372036.854775807"), std::numeric_limits<int64_t>::max());
}

TEST(MoneyTest, WhatIsNoAmountIsRefused) {
  for (const char* text : {"", ".", "-1", "+1", "1.", ".5", "1e3", "0x10", "1,5", " 1", "1 ", "inf", "1.2.3"}) {
    EXPECT_THAT(ParseNanos(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no amount"))) << text;
  }
  EXPECT_THAT(ParseNanos("0.0000000001"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nine decimals")));
  for (const char* text : {"9223372036.854775808", "99999999999", "99999999999999999999999999"}) {
    EXPECT_THAT(ParseNanos(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too large"))) << text;
  }
}

TEST(MoneyTest, AmountsAreWrittenExactly) {
  EXPECT_EQ(FormatNanos(0), "0.00");
  EXPECT_EQ(FormatNanos(1), "0.000000001");
  EXPECT_EQ(FormatNanos(-1), "-0.000000001");
  EXPECT_EQ(FormatNanos(1'500'000'000), "1.50");
  EXPECT_EQ(FormatNanos(1'230'000'000), "1.23");
  EXPECT_EQ(FormatNanos(100'000'000'000), "100.00");
  EXPECT_EQ(FormatNanos(std::numeric_limits<int64_t>::max()), "9223372036.854775807");
  EXPECT_EQ(FormatNanos(std::numeric_limits<int64_t>::min()), "-9223372036.854775808");
  for (int64_t nanos = 1; nanos < 5'000'000'000'000'000'000 / 7; nanos *= 7) {
    EXPECT_EQ(*ParseNanos(FormatNanos(nanos)), nanos);
  }
}

// --- charges

v1::Usage UsageOf(int64_t device, int64_t disk, int64_t computed, int64_t written, int64_t completion) {
  v1::Usage usage;
  usage.set_prompt_tokens(device + disk + computed);
  usage.set_cached_tokens(device + disk);
  usage.set_computed_prompt_tokens(computed);
  usage.mutable_cached_by_tier()->set_device(device);
  usage.mutable_cached_by_tier()->set_disk(disk);
  usage.set_cache_write_tokens(written);
  usage.set_completion_tokens(completion);
  usage.set_recomputed_tokens(1'000'000);  // never billed
  return usage;
}

v1::TokenPrices Prices(int64_t input, int64_t device, int64_t disk, int64_t write, int64_t output, int64_t storage) {
  v1::TokenPrices prices;
  prices.set_input_nanos(input);
  prices.set_cached_device_nanos(device);
  prices.set_cached_disk_nanos(disk);
  prices.set_cache_write_nanos(write);
  prices.set_output_nanos(output);
  prices.set_storage_hour_nanos(storage);
  return prices;
}

TEST(ChargeTest, EachKindOfTokenHasItsPrice) {
  const auto prices = Prices(3'000'000, 300'000, 600'000, 750'000, 15'000'000, 0);
  const v1::Charge charge = ChargeOf(UsageOf(1000, 100, 10, 16, 20), 0, prices);
  EXPECT_EQ(charge.cost_nanos(), 1000 * 3 / 10 + 100 * 6 / 10 + 10 * 3 + 16 * 75 / 100 + 20 * 15);
  EXPECT_EQ(charge.cost_without_cache_nanos(), 1110 * 3 + 20 * 15);
  EXPECT_EQ(charge.saved_nanos(), charge.cost_without_cache_nanos() - charge.cost_nanos());
  EXPECT_TRUE(charge.has_saved_nanos());
}

TEST(ChargeTest, WritingMayCostMoreThanReadingSaves) {
  EXPECT_EQ(ChargeOf(UsageOf(0, 0, 100, 100, 0), 0, Prices(1'000'000, 0, 0, 250'000, 0, 0)).saved_nanos(), -25);
}

// Each part alone would be rounded to 0; together they are one and a half, which is rounded once.
TEST(ChargeTest, TheSumIsRoundedOnceHalvesUp) {
  const auto prices = Prices(500'000, 499'999, 1, 0, 500'000, 0);
  EXPECT_EQ(ChargeOf(UsageOf(1, 1, 0, 0, 0), 0, prices).cost_nanos(), 1);  // 0.5
  EXPECT_EQ(ChargeOf(UsageOf(1, 0, 0, 0, 0), 0, prices).cost_nanos(), 0);  // 0.499999
  EXPECT_EQ(ChargeOf(UsageOf(1, 1, 1, 0, 1), 0, prices).cost_nanos(), 2);  // 1.5
}

TEST(ChargeTest, StorageIsForTokenHours) {
  const auto prices = Prices(0, 0, 0, 0, 0, 1'000'000'000);
  EXPECT_EQ(ChargeOf({}, int64_t{2'000'000} * 3600, prices).cost_nanos(), 2'000'000'000);
  EXPECT_EQ(ChargeOf({}, 1800, prices).cost_nanos(), 500);
  EXPECT_EQ(ChargeOf({}, 1800, prices).saved_nanos(), 0);
}

TEST(ChargeTest, LargestPricesAndPromptsFit) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto prices = Prices(kMaxPriceNanos, kMaxPriceNanos, kMaxPriceNanos, kMaxPriceNanos, kMaxPriceNanos, 0);
  const v1::Charge charge = ChargeOf(UsageOf(kMost, 0, 0, 2 * kMost, kMost), 0, prices);
  EXPECT_EQ(charge.cost_nanos(), 4 * kMost * 1'000'000'000);
}

TEST(ChargeTest, NonsenseNeitherOverflowsNorPays) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto prices = Prices(kMaxPriceNanos, 0, 0, kMaxPriceNanos, kMaxPriceNanos, kMaxPriceNanos);
  EXPECT_EQ(ChargeOf(UsageOf(0, 0, kMost, kMost, kMost), kMost, prices).cost_nanos(), kMost);
  EXPECT_EQ(ChargeOf(UsageOf(0, 0, -5, -5, -5), -5, prices).cost_nanos(), 0);
}

// --- price books

constexpr char kBook[] = R"(
currency: USD
versions:
  - version: 2026-12
    effective_from: 2026-12-01T12:00:00Z
    models:
      small: {input: 4, output: 16.5}
  - version: 2026-01
    effective_from: 2026-01-01T00:00:00+01:00
    models:
      small:
        input: 3
        cached_input: 0.30
        cache_write: "0.75"
        output: 15
        storage: 0.000000001
      "*":
        input: 1
        cached_input: {device: 0.1, disk: 0.2}
        output: 2
)";

absl::Time At(const std::string& text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &error)) << error;
  return time;
}

TEST(PriceBookTest, PricesAreReadExactly) {
  ASSERT_OK_AND_ASSIGN(const PriceBook book, ParsePriceBook(kBook, "small"));
  EXPECT_EQ(book.currency(), "USD");
  ASSERT_EQ(book.versions().size(), 2u);
  const PriceVersion& version = book.versions()[0];
  EXPECT_EQ(version.name, "2026-01");
  EXPECT_EQ(version.effective_from, At("2025-12-31T23:00:00Z"));
  const v1::TokenPrices& small = *version.Of("small");
  EXPECT_EQ(small.input_nanos(), 3'000'000'000);
  EXPECT_EQ(small.cached_device_nanos(), 300'000'000);
  EXPECT_EQ(small.cached_remote_nanos(), 300'000'000);
  EXPECT_EQ(small.cache_write_nanos(), 750'000'000);
  EXPECT_EQ(small.output_nanos(), 15'000'000'000);
  EXPECT_EQ(small.storage_hour_nanos(), 1);
  const v1::TokenPrices& any = *version.Of("another");
  EXPECT_EQ(any.cached_device_nanos(), 100'000'000);
  EXPECT_EQ(any.cached_disk_nanos(), 200'000'000);
  EXPECT_EQ(any.cached_host_nanos(), any.input_nanos());  // what is not said costs as much as computing
  EXPECT_EQ(any.cache_write_nanos(), 0);
  EXPECT_EQ(book.versions()[1].Of("another"), nullptr);
  EXPECT_EQ(book.versions()[1].Of("small")->cached_disk_nanos(), 4'000'000'000);
}

// A6: prices change at noon.
TEST(PriceBookTest, VersionInForceIsTheLastThatHasBegun) {
  ASSERT_OK_AND_ASSIGN(const PriceBook book, ParsePriceBook(kBook, "small"));
  EXPECT_EQ(book.At(At("2026-12-01T11:59:59.999999999Z")).name, "2026-01");
  EXPECT_EQ(book.At(At("2026-12-01T12:00:00Z")).name, "2026-12");
  EXPECT_EQ(book.At(absl::InfiniteFuture()).name, "2026-12");
  EXPECT_EQ(book.At(absl::InfinitePast()).name, "2026-01");  // before the first: the first
}

struct WrongBook {
  std::string text;
  std::string line;
  std::string complaint;
};

std::string BookWith(const std::string& models, const std::string& from = "2026-01-01T00:00:00Z") {
  return "currency: USD\nversions:\n  - version: a\n    effective_from: " + from + "\n    models:\n" + models;
}

TEST(PriceBookTest, WhatIsWrongIsNamedWithItsLine) {
  const std::string good = "      \"*\": {input: 1, output: 1}\n";
  const std::string second = "  - version: b\n    effective_from: 2026-01-01T01:00:00+01:00\n    models:\n";
  const std::vector<WrongBook> books = {
      {"", "line 1", "is a mapping of currency, versions"},
      {"- a\n", "line 1", "is a mapping"},
      {"versions: []\n", "line 1", "has no currency"},
      {"currency: USD\n", "line 1", "has no versions"},
      {"currency: [a]\nversions: []\n", "line 1", "currency is a name"},
      {"currency: US D\nversions: []\n", "line 1", "without spaces"},
      {"currency: USD\nversions: 3\n", "line 2", "versions is a list"},
      {"currency: USD\nprices: 3\n", "line 2", "unknown field \"prices\"; known are currency, versions"},
      {"currency: USD\ncurrency: EUR\n", "line 2", "\"currency\" twice"},
      {BookWith(good, "yesterday"), "line 4", "a time with its zone"},
      {BookWith(good, "2026-01-01"), "line 4", "a time with its zone"},
      {BookWith(good, "infinite-past"), "line 4", "a time with its zone"},
      {BookWith("      {}\n"), "line 6", "models is empty"},
      {BookWith("      other: {input: 1, output: 1}\n"), "line 3", "no price for the served model \"small\""},
      {BookWith("      small: {input: 1}\n"), "line 6", "no price for output"},
      {BookWith("      small: {output: 1}\n"), "line 6", "no price for input"},
      {BookWith("      small: {input: -1, output: 1}\n"), "line 6", "\"-1\" is no amount"},
      {BookWith("      small: {input: 1e3, output: 1}\n"), "line 6", "is no amount"},
      {BookWith("      small: {input: [1], output: 1}\n"), "line 6", "the price of a million tokens"},
      {BookWith("      small: {input: 1000000.1, output: 1}\n"), "line 6", "at most 1000000"},
      {BookWith("      small:\n        input: 1\n        output: 1\n        cache: 1\n"), "line 9",
       "unknown field \"cache\"; known are input, cached_input"},
      {BookWith("      small:\n        input: 1\n        output: 1\n        cached_input: {ram: 1}\n"), "line 9",
       "unknown field \"ram\"; known are device, host, disk, remote"},
      {BookWith("      small: {input: 1, output: 1}\n      small: {input: 2, output: 1}\n"), "line 7",
       "\"small\" twice"},
      {BookWith(good) + second + good, "line 3", "begin at the same time"},
      {BookWith(good) + "  - version: a\n    effective_from: 2026-02-01T00:00:00Z\n    models:\n" + good, "line 7",
       "two versions \"a\""},
      {BookWith("      *: {input: 1, output: 1}\n"), "line 6", "is not YAML"},
      {"currency: \"USD\nversions: []", "line", "is not YAML"},
      {"currency: &a [*a]\nversions: *a\n", "line", "currency is a name"},
  };
  for (const WrongBook& book : books) {
    EXPECT_THAT(ParsePriceBook(book.text, "small"),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(book.line), HasSubstr(book.complaint))))
        << book.text;
  }
}

TEST(PriceBookTest, HostileTextIsRefusedWithoutHarm) {
  EXPECT_FALSE(ParsePriceBook(std::string(100'000, '['), "").ok());
  EXPECT_FALSE(ParsePriceBook(std::string(100'000, '{'), "").ok());
  EXPECT_THAT(ParsePriceBook(std::string(2 << 20, ' '), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 1048576 bytes")));
  std::string deep = "currency: USD\nversions:\n";
  for (int i = 0; i < 5000; ++i) deep += std::string(static_cast<size_t>(i), ' ') + "-\n";
  EXPECT_FALSE(ParsePriceBook(deep.substr(0, 1 << 20), "").ok());
  for (size_t size = 0; size < std::string(kBook).size(); ++size) {
    ParsePriceBook(std::string(kBook).substr(0, size), "small").IgnoreError();
    std::string spoilt = kBook;
    spoilt[size] = static_cast<char>(spoilt[size] ^ 0x15);
    ParsePriceBook(spoilt, "small").IgnoreError();
  }
}

TEST(PriceBookTest, IsReadAnewWhenItsFileChanges) {
  const std::string path = ::testing::TempDir() + "/headstart_prices.yaml";
  std::ofstream(path) << kBook;
  std::string event;
  auto prices = LoadedPrices::Open({path}, PriceBookParser("small"),
                                   [&event](FileNews, const std::string& text) { event = text; });
  ASSERT_OK(prices);
  std::ofstream(path) << "currency: [";
  (*prices)->Refresh();
  EXPECT_THAT(event, AllOf(HasSubstr(path), HasSubstr("line 1"), HasSubstr("last good version")));
  EXPECT_EQ((*prices)->current()->currency(), "USD");
  std::ofstream(path) << "currency: EUR\nversions:\n  - version: a\n    effective_from: 2026-01-01T00:00:00Z\n"
                         "    models: {\"*\": {input: 1, output: 2}}\n";
  (*prices)->Refresh();
  EXPECT_EQ((*prices)->current()->currency(), "EUR");
  std::filesystem::remove(path);
}

// --- conventions

TEST(TokenConventionsTest, BothAddUpToThePrompt) {
  const v1::Usage usage = UsageOf(900, 50, 50, 32, 20);
  const ExclusiveTokens exclusive = ToExclusive(usage);
  EXPECT_EQ(exclusive.input_tokens, 18);
  EXPECT_EQ(exclusive.cache_creation_input_tokens, 32);
  EXPECT_EQ(exclusive.cache_read_input_tokens, 950);
  EXPECT_EQ(ToInclusive(exclusive).prompt_tokens, ToInclusive(usage).prompt_tokens);
  EXPECT_EQ(ToInclusive(exclusive).cached_tokens, ToInclusive(usage).cached_tokens);
}

// What is written of the answer is no input.
TEST(TokenConventionsTest, WritingTheAnswerIsNoInput) {
  const ExclusiveTokens exclusive = ToExclusive(UsageOf(100, 0, 10, 30, 20));
  EXPECT_EQ(exclusive.input_tokens, 0);
  EXPECT_EQ(exclusive.cache_creation_input_tokens, 10);
}

TEST(NoAccountTest, AdmitsAllAndCostsNothing) {
  const auto account = NoAccount();
  EXPECT_OK(account->Admit({}));
  v1::Receipt receipt;
  account->Record({}, [&receipt](const v1::Receipt& told) { receipt = told; });
  EXPECT_TRUE(receipt.has_recorded());
  EXPECT_FALSE(receipt.recorded());
  EXPECT_TRUE(receipt.charge().has_cost_nanos());
  EXPECT_EQ(account->Predict("m", {}).cost_nanos(), 0);
}

}  // namespace
}  // namespace headstart::testing
