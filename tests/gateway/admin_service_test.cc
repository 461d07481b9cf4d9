// Administration over the API: operators alone, and every figure of the engine in its place.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Stub = v1::AdminService::Stub;

class AdminServiceTest : public ::testing::Test {
 protected:
  AdminServiceTest() {
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    served_.emplace(std::move(engine), ServiceHostOptions{}, std::make_unique<TokenAuthenticator>());
  }

  grpc::Status Purge(const std::string& tenant, const std::string& caller) {
    v1::PurgeTenantRequest request;
    request.set_tenant(tenant);
    return Call(served_->admin(), &Stub::PurgeTenant, request, purged_, caller);
  }
  grpc::Status Verify() { return Call(served_->admin(), &Stub::VerifyDisk, {}, verified_, "operator"); }
  grpc::Status Flush(const std::string& caller) {
    return Call(served_->admin(), &Stub::FlushCache, {}, flushed_, caller);
  }
  v1::GetStatusResponse Status() {
    v1::GetStatusResponse response;
    const grpc::Status status = Call(served_->admin(), &Stub::GetStatus, {}, response, "operator");
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
  v1::FlushCacheResponse flushed_;
  v1::PurgeTenantResponse purged_;
  v1::VerifyDiskResponse verified_;
};

TEST_F(AdminServiceTest, OthersThanOperatorsMayNothing) {
  v1::GetStatusResponse status;
  EXPECT_EQ(ReasonOf(Call(served_->admin(), &Stub::GetStatus, {}, status, "acme")), "NOT_AN_OPERATOR");
  EXPECT_EQ(status.ByteSizeLong(), 0u);
  EXPECT_EQ(ReasonOf(Call(served_->admin(), &Stub::VerifyDisk, {}, verified_, "acme")), "NOT_AN_OPERATOR");
  EXPECT_EQ(ReasonOf(Flush("acme")), "NOT_AN_OPERATOR");
  const grpc::Status refused = Purge("acme", "acme");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ReasonOf(refused), "NOT_AN_OPERATOR");
  EXPECT_EQ(engine_->flushes(), 0);
  EXPECT_THAT(engine_->purged_tenants(), IsEmpty());
}

TEST_F(AdminServiceTest, FlushTellsWhatWasRemoved) {
  ASSERT_TRUE(Flush("operator").ok());
  EXPECT_EQ(engine_->flushes(), 1);
  EXPECT_EQ(flushed_.removed_blocks(), 3);
  EXPECT_TRUE(flushed_.has_removed_prefixes());
  engine_->SetFlushStatus(absl::UnavailableError("disk"));
  EXPECT_EQ(ReasonOf(Flush("operator")), "DISK_FAILED");
}

TEST_F(AdminServiceTest, PurgeNamesOneTenant) {
  EXPECT_EQ(FieldOf(Purge("", "operator")), "tenant");
  EXPECT_THAT(engine_->purged_tenants(), IsEmpty());
  engine_->SetPurge(FlushReport{.blocks = 5, .prefixes = 2});
  ASSERT_TRUE(Purge("acme", "operator").ok());
  EXPECT_THAT(engine_->purged_tenants(), ElementsAre("acme"));
  EXPECT_EQ(purged_.removed_blocks(), 5);
  EXPECT_EQ(purged_.removed_prefixes(), 2);
  engine_->SetPurge(absl::UnavailableError("disk"));
  EXPECT_EQ(ReasonOf(Purge("acme", "operator")), "DISK_FAILED");
}

TEST_F(AdminServiceTest, VerifyReportsOrSaysThatThereIsNoDisk) {
  const grpc::Status none = Verify();
  EXPECT_EQ(none.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(none), "NO_DISK_TIER");
  engine_->SetVerify(VerifyReport{.blocks = 10, .bytes = 327'680, .bad_blocks = 1, .orphan_blocks = 2});
  ASSERT_TRUE(Verify().ok());
  EXPECT_EQ(verified_.blocks(), 10);
  EXPECT_EQ(verified_.bytes(), 327'680);
  EXPECT_EQ(verified_.bad_blocks(), 1);
  EXPECT_EQ(verified_.orphan_blocks(), 2);
  engine_->SetVerify(absl::UnavailableError("i/o error"));
  EXPECT_EQ(ReasonOf(Verify()), "DISK_FAILED");
}

// Each counter has a value of its own, so that none can stand in another's place.
EngineStats DistinctStats() {
  EngineStats stats;
  stats.running = 1;
  stats.waiting = 2;
  stats.waiting_for_prefix = 3;
  stats.finished = 4;
  stats.preemptions = 5;
  stats.prompt_tokens_computed = 6;
  stats.completion_tokens = 7;
  stats.store.pool_blocks = 100;
  stats.store.free_blocks = 90;
  stats.store.evicted_blocks = 11;
  stats.store.host_blocks = 200;
  stats.store.host_used_blocks = 12;
  stats.store.host_loaded_blocks = 13;
  stats.store.disk_blocks = 300;
  stats.store.disk_used_blocks = 14;
  stats.store.disk_loaded_blocks = 15;
  stats.store.disk_stored_blocks = 16;
  stats.store.disk_failures = 17;
  stats.store.disk_outages = 18;
  stats.queried_tokens = 19;
  stats.hit_tokens = 20;
  stats.store.written_tokens = 21;
  stats.store.recomputed_by_choice_tokens = 22;
  stats.store.dropped_blocks = 23;
  stats.store.bad_blocks = 24;
  stats.store.transfers_pending = 25;
  return stats;
}

TEST_F(AdminServiceTest, StatusOfRequestsAndCache) {
  engine_->SetStats(DistinctStats());
  const v1::GetStatusResponse status = Status();
  EXPECT_EQ(status.version(), "0.1.0");
  EXPECT_EQ(status.model().name(), "demo");
  EXPECT_EQ(status.model().fingerprint(), "00000000000000010000000000000002");
  EXPECT_GT(status.start_time().seconds(), 1'700'000'000);
  EXPECT_TRUE(status.has_uptime());
  EXPECT_EQ(status.requests().running(), 1);
  EXPECT_EQ(status.requests().waiting(), 2);
  EXPECT_EQ(status.requests().waiting_for_prefix(), 3);
  EXPECT_EQ(status.requests().finished(), 4);
  EXPECT_EQ(status.requests().preemptions(), 5);
  EXPECT_EQ(status.requests().prompt_tokens_computed(), 6);
  EXPECT_EQ(status.requests().completion_tokens(), 7);
  EXPECT_EQ(status.cache().queried_tokens(), 19);
  EXPECT_EQ(status.cache().hit_tokens(), 20);
  EXPECT_EQ(status.cache().written_tokens(), 21);
  EXPECT_EQ(status.cache().recomputed_by_choice_tokens(), 22);
  EXPECT_EQ(status.cache().dropped_blocks(), 23);
  EXPECT_EQ(status.cache().bad_blocks(), 24);
  EXPECT_EQ(status.cache().transfers_pending(), 25);
}

TEST_F(AdminServiceTest, StatusOfTiers) {
  constexpr int64_t kBlockBytes = 4 * 2 * 64 * 2 * 2 * 16;  // layers, heads, dimensions, K and V, bf16, tokens
  EngineStats stats = DistinctStats();
  engine_->SetStats(stats);
  const v1::GetStatusResponse status = Status();
  ASSERT_EQ(status.tiers_size(), 3);
  const v1::TierStatus& device = status.tiers(0);
  EXPECT_EQ(device.tier(), v1::TIER_DEVICE);
  EXPECT_TRUE(device.on());
  EXPECT_EQ(device.used_blocks(), 10);
  EXPECT_EQ(device.capacity_bytes(), 100 * kBlockBytes);
  EXPECT_EQ(device.evicted_blocks(), 11);
  EXPECT_FALSE(device.has_loaded_blocks());
  const v1::TierStatus& host = status.tiers(1);
  EXPECT_EQ(host.tier(), v1::TIER_HOST);
  EXPECT_TRUE(host.configured());
  EXPECT_EQ(host.used_bytes(), 12 * kBlockBytes);
  EXPECT_EQ(host.capacity_blocks(), 200);
  EXPECT_EQ(host.loaded_blocks(), 13);
  const v1::TierStatus& disk = status.tiers(2);
  EXPECT_EQ(disk.tier(), v1::TIER_DISK);
  EXPECT_TRUE(disk.configured());
  EXPECT_FALSE(disk.on());
  EXPECT_EQ(disk.used_blocks(), 14);
  EXPECT_EQ(disk.loaded_blocks(), 15);
  EXPECT_EQ(disk.stored_blocks(), 16);
  EXPECT_EQ(disk.failures(), 17);
  EXPECT_EQ(disk.outages(), 18);
  stats.store.disk_on = true;
  engine_->SetStats(stats);
  EXPECT_TRUE(Status().tiers(2).on());
}

TEST_F(AdminServiceTest, TiersThatAreNotThereSaySo) {
  engine_->SetStats({});
  const v1::GetStatusResponse status = Status();
  for (int i : {1, 2}) {
    EXPECT_TRUE(status.tiers(i).has_configured());
    EXPECT_FALSE(status.tiers(i).configured());
    EXPECT_FALSE(status.tiers(i).on());
  }
}

}  // namespace
}  // namespace headstart::testing
