// What tests of the ledger share: entries, and a naive account to compare with.

#ifndef HEADSTART_TESTS_GATEWAY_LEDGER_TESTING_H_
#define HEADSTART_TESTS_GATEWAY_LEDGER_TESTING_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "engine/mutex.h"
#include "gateway/ledger/ledger.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {

// 2026-11-30 10:00 UTC.
absl::Time Ten();

struct EntrySpec {
  std::string tenant = "acme";
  std::string id = "r1";
  absl::Time end = Ten();
  int64_t completion_tokens = 10;
  uint64_t digest = 1;
  int64_t prompt_tokens = 100;
  std::map<std::string, std::string> labels = {};
  std::string key_id = "web";
  std::string model = "m";
};

// Priced with TestPrices() in "USD", version "v1".
v1::TokenPrices TestPrices();
v1::UsageEntry MakeEntry(const EntrySpec& spec);

// Posts and waits for the answer.
PostResult Post(Ledger& ledger, const v1::UsageEntry& entry);

std::vector<v1::UsageEntry> AllRecords(const Ledger& ledger);
// Serialized sums of each hour, by the hour's key fields.
std::map<std::string, v1::UsageTotals> AllHours(const Ledger& ledger);
// The same from entries.
std::map<std::string, v1::UsageTotals> SumByHour(const std::vector<v1::UsageEntry>& entries);

// Every field, for EXPECT_EQ.
std::string Text(const google::protobuf::Message& message);
std::string Text(const std::map<std::string, v1::UsageTotals>& hours);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_LEDGER_TESTING_H_
