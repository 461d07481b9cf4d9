#include "tests/gateway/ledger_testing.h"

#include <unistd.h>

#include <future>

#include "gateway/accounting/charge.h"
#include "gateway/ledger/internal/ledger_keys.h"
#include "gateway/ledger/usage_totals.h"
#include "google/protobuf/util/time_util.h"
#include "gtest/gtest.h"

namespace headstart::testing {

absl::Time Ten() { return absl::FromUnixSeconds(1'796'032'800); }

v1::TokenPrices TestPrices() {
  v1::TokenPrices prices;
  prices.set_input_nanos(3'000'000'000);
  prices.set_cached_device_nanos(300'000'000);
  prices.set_cached_host_nanos(300'000'000);
  prices.set_cached_disk_nanos(600'000'000);
  prices.set_cached_remote_nanos(900'000'000);
  prices.set_cache_write_nanos(750'000'000);
  prices.set_output_nanos(15'000'000'000);
  prices.set_storage_hour_nanos(1'000'000'000);
  return prices;
}

v1::UsageEntry MakeEntry(const EntrySpec& spec) {
  using google::protobuf::util::TimeUtil;
  v1::UsageEntry entry;
  entry.set_kind(v1::USAGE_KIND_GENERATE);
  entry.set_tenant(spec.tenant);
  entry.set_request_id(spec.id);
  entry.set_key_id(spec.key_id);
  entry.set_model(spec.model);
  entry.mutable_labels()->insert(spec.labels.begin(), spec.labels.end());
  *entry.mutable_end_time() = TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(spec.end));
  *entry.mutable_start_time() = TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(spec.end - absl::Seconds(2)));
  *entry.mutable_update_time() = entry.end_time();
  v1::Usage& usage = *entry.mutable_usage();
  usage.set_prompt_tokens(spec.prompt_tokens);
  usage.set_cached_tokens(spec.prompt_tokens / 2);
  usage.set_computed_prompt_tokens(spec.prompt_tokens - spec.prompt_tokens / 2);
  usage.mutable_cached_by_tier()->set_device(spec.prompt_tokens / 2);
  usage.set_cache_write_tokens(16);
  usage.set_completion_tokens(spec.completion_tokens);
  entry.set_attempts(1);
  entry.set_request_digest(spec.digest);
  *entry.mutable_prices() = TestPrices();
  *entry.mutable_charge() = ChargeOf(usage, 0, TestPrices());
  entry.mutable_charge()->set_currency("USD");
  entry.mutable_charge()->set_price_version("v1");
  return entry;
}

PostResult Post(Ledger& ledger, const v1::UsageEntry& entry) {
  std::promise<PostResult> promise;
  ledger.Post(entry, [&promise](const PostResult& result) { promise.set_value(result); });
  return promise.get_future().get();
}

std::vector<v1::UsageEntry> AllRecords(const Ledger& ledger) {
  std::vector<v1::UsageEntry> all;
  auto cursor = ledger.ReadRecords(absl::InfinitePast(), absl::InfiniteFuture());
  EXPECT_TRUE(cursor.ok()) << cursor.status().ToString();
  while (cursor.ok() && !cursor->at_end()) {
    auto page = cursor->Next();
    EXPECT_TRUE(page.ok()) << page.status().ToString();
    if (!page.ok()) break;
    all.insert(all.end(), page->begin(), page->end());
  }
  return all;
}

std::map<std::string, v1::UsageTotals> AllHours(const Ledger& ledger) {
  std::map<std::string, v1::UsageTotals> all;
  const absl::Status status = ledger.ReadHours(absl::InfinitePast(), absl::InfiniteFuture(),
                                               [&all](const UsageHour& hour, const v1::UsageTotals& totals) {
                                                 all[ledger_internal::HourKey(hour)] = totals;
                                                 return true;
                                               });
  EXPECT_TRUE(status.ok()) << status.ToString();
  return all;
}

std::map<std::string, v1::UsageTotals> SumByHour(const std::vector<v1::UsageEntry>& entries) {
  std::map<std::string, v1::UsageTotals> all;
  for (const auto& entry : entries) Add(TotalsOf(entry), all[ledger_internal::HourKey(ledger_internal::HourOf(entry))]);
  return all;
}

std::string Text(const google::protobuf::Message& message) { return message.ShortDebugString(); }

std::string Text(const std::map<std::string, v1::UsageTotals>& hours) {
  std::string text;
  for (const auto& [key, totals] : hours) text += ::testing::PrintToString(key) + ": " + Text(totals) + "\n";
  return text;
}

}  // namespace headstart::testing
