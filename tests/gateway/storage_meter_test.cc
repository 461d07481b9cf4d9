// Registered prefixes on the account: an entry for each hour, whatever ends, begins or restarts within it.

#include "gateway/ledger/storage_meter.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_testing.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

class StorageMeterTest : public ::testing::Test {
 protected:
  StorageMeterTest() { Restart(); }

  void Restart() {
    meter_ = StorageMeter::Create({.model = "m",
                                   .prefixes = [this](const auto& done) { done(prefixes_); },
                                   .record = [this](const StorageRecord& record) { Take(record); },
                                   .now = [this] { return now_; }});
  }
  // As the ledger does: the longest of an id.
  void Take(const StorageRecord& record) {
    int64_t& token_seconds = billed_[record.request_id];
    token_seconds = std::max(token_seconds, record.token_seconds);
    last_ = record;
  }
  void Register(const std::string& id, absl::Time expires = absl::InfiniteFuture()) {
    CachedPrefix prefix;
    prefix.id = id;
    prefix.scope = Scope::Tenant("acme");
    prefix.tokens = 10;
    prefix.created = now_;
    prefix.expires = expires;
    prefixes_.push_back(prefix);
  }
  void TickAt(absl::Time time) {
    now_ = time;
    meter_->Tick();
  }
  std::vector<int64_t> TokenSeconds() const {
    std::vector<int64_t> figures;
    for (const auto& [id, token_seconds] : billed_) figures.push_back(token_seconds);
    return figures;
  }

  absl::Time now_ = Ten() + absl::Minutes(30);
  std::vector<CachedPrefix> prefixes_;
  std::map<std::string, int64_t> billed_;
  StorageRecord last_;
  std::shared_ptr<StorageMeter> meter_;
};

TEST_F(StorageMeterTest, EveryHourIsBilledOnceItIsOver) {
  Register("p");
  meter_->Tick();
  TickAt(Ten() + absl::Minutes(59));
  EXPECT_THAT(billed_, IsEmpty());
  TickAt(Ten() + absl::Minutes(61));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 1800));
  TickAt(Ten() + absl::Hours(3));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 1800, 36'000, 36'000));
  EXPECT_EQ(last_.tenant, "acme");
  EXPECT_EQ(last_.end, Ten() + absl::Hours(3) - absl::Nanoseconds(1));
  EXPECT_THAT(last_.request_id, StartsWith("storage/tenant/p/"));
}

TEST_F(StorageMeterTest, DeletedPrefixCountsUntilItWasSeenLast) {
  Register("p");
  meter_->Tick();
  TickAt(Ten() + absl::Minutes(40));
  prefixes_.clear();
  TickAt(Ten() + absl::Minutes(41));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 600));
  TickAt(Ten() + absl::Hours(5));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 600));
}

TEST_F(StorageMeterTest, ExpiredPrefixCountsUntilItsEndListedOrNot) {
  Register("listed", Ten() + absl::Minutes(35));
  Register("gone", Ten() + absl::Minutes(36));
  meter_->Tick();
  prefixes_.pop_back();
  TickAt(Ten() + absl::Minutes(50));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 360, 10 * 300));
  TickAt(Ten() + absl::Minutes(51));
  TickAt(Ten() + absl::Hours(2));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 360, 10 * 300));
}

TEST_F(StorageMeterTest, CreatedAgainUnderItsNameIsAnother) {
  Register("p");
  meter_->Tick();
  prefixes_.clear();
  now_ = Ten() + absl::Minutes(45);
  Register("p");
  meter_->Tick();
  TickAt(Ten() + absl::Hours(1));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 900));  // the first was seen once, at its beginning
}

TEST_F(StorageMeterTest, RestartWithinAnHourNeitherRepeatsNorSkips) {
  Register("p");
  meter_->Tick();
  now_ = Ten() + absl::Minutes(40);
  meter_->Settle([] {});
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 600));
  Restart();
  TickAt(Ten() + absl::Minutes(45));
  TickAt(Ten() + absl::Hours(1));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 1800));
  TickAt(Ten() + absl::Hours(2));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 1800, 36'000));
}

TEST_F(StorageMeterTest, HoursWithoutAServerAreFree) {
  Register("p");
  meter_->Tick();
  Restart();
  TickAt(Ten() + absl::Hours(4) + absl::Minutes(10));
  TickAt(Ten() + absl::Hours(5));
  EXPECT_THAT(TokenSeconds(), ElementsAre(36'000));
}

// A server that ends within a minute of it.
TEST_F(StorageMeterTest, SettlingLooksAtWhatCameSinceTheLastTick) {
  meter_->Tick();
  Register("p");
  now_ += absl::Seconds(20);
  bool done = false;
  meter_->Settle([&] { done = true; });
  EXPECT_TRUE(done);
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 20));
}

TEST_F(StorageMeterTest, SettledTwiceIsBilledOnce) {
  Register("p");
  meter_->Tick();
  now_ = Ten() + absl::Minutes(40);
  meter_->Settle([] {});
  meter_->Settle([] {});
  TickAt(Ten() + absl::Hours(1));
  EXPECT_THAT(TokenSeconds(), ElementsAre(10 * 1800));
}

TEST_F(StorageMeterTest, TenantsPrefixesOfOneNameAreTheirOwn) {
  Register("p");
  prefixes_.push_back(prefixes_.back());
  prefixes_.back().scope = Scope::Tenant("globex");
  std::map<std::string, int64_t> by_tenant;
  meter_ = StorageMeter::Create({.model = "m",
                                 .prefixes = [this](const auto& done) { done(prefixes_); },
                                 .record = [&](const StorageRecord& r) { by_tenant[r.tenant] += r.token_seconds; },
                                 .now = [this] { return now_; }});
  meter_->Tick();
  TickAt(Ten() + absl::Hours(1));
  EXPECT_THAT(by_tenant, ElementsAre(Pair("acme", 18'000), Pair("globex", 18'000)));
}

}  // namespace
}  // namespace headstart::testing
