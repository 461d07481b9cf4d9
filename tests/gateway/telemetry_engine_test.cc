// What a page says of the engine and its cache.

#include "gateway/services/version.h"
#include "gateway/telemetry/engine_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class EngineMetricsTest : public ::testing::Test {
 protected:
  std::string Page() const { return MetricsPage({&metrics_, &requests_}).Render(); }

  FakeEngine engine_;
  RequestMetrics requests_{{}};
  EngineMetrics metrics_{engine_, requests_, "demo"};
  const int64_t block_bytes_ = engine_.kv_shape().bytes_per_token() * engine_.kv_shape().block_tokens;
};

std::string Line(const std::string& sample, int64_t value) { return sample + " " + std::to_string(value) + "\n"; }

// A7: an idle server with a warm cache has it resident and nothing in use.
TEST_F(EngineMetricsTest, ResidentAndLeasedAreTwoFigures) {
  EngineStats stats;
  stats.store.pool_blocks = 100;
  stats.store.free_blocks = 40;
  stats.store.evictable_blocks = 60;
  engine_.SetStats(stats);
  EXPECT_THAT(Page(), AllOf(HasSubstr(Line("headstart_cache_resident_bytes{tier=\"device\"}", 60 * block_bytes_)),
                            HasSubstr(Line("headstart_cache_leased_bytes{tier=\"device\"}", 0)),
                            HasSubstr(Line("headstart_cache_capacity_bytes{tier=\"device\"}", 100 * block_bytes_)),
                            HasSubstr("vllm:kv_cache_usage_perc{model_name=\"demo\"} 0\n")));
  stats.store.leased_blocks = 25;
  stats.store.evictable_blocks = 35;
  engine_.SetStats(stats);
  EXPECT_THAT(Page(), AllOf(HasSubstr(Line("headstart_cache_resident_bytes{tier=\"device\"}", 60 * block_bytes_)),
                            HasSubstr(Line("headstart_cache_leased_bytes{tier=\"device\"}", 25 * block_bytes_)),
                            HasSubstr("vllm:kv_cache_usage_perc{model_name=\"demo\"} 0.25\n")));
}

TEST_F(EngineMetricsTest, RequestsByWhatTheyWaitFor) {
  EngineStats stats;
  stats.running = 3;
  stats.waiting = 7;
  stats.waiting_for_prefix = 2;
  stats.preemptions = 4;
  engine_.SetStats(stats);
  EXPECT_THAT(Page(), AllOf(HasSubstr("headstart_requests_running 3\n"),
                            HasSubstr("headstart_requests_waiting{reason=\"capacity\"} 5\n"),
                            HasSubstr("headstart_requests_waiting{reason=\"prefix\"} 2\n"),
                            HasSubstr("headstart_preemptions_total 4\n"),
                            HasSubstr("vllm:num_requests_running{model_name=\"demo\"} 3\n"),
                            HasSubstr("vllm:num_requests_waiting{model_name=\"demo\"} 7\n")));
}

TEST_F(EngineMetricsTest, TiersAndTheirTroubles) {
  EngineStats stats;
  stats.store.host_blocks = 10;
  stats.store.host_used_blocks = 4;
  stats.store.disk_blocks = 1000;
  stats.store.disk_used_blocks = 500;
  stats.store.disk_loaded_blocks = 11;
  stats.store.host_loaded_blocks = 12;
  stats.store.disk_stored_blocks = 13;
  stats.store.disk_failures = 14;
  stats.store.disk_outages = 15;
  stats.store.bad_blocks = 16;
  stats.store.ages.idle_before_eviction[0].Observe(4, 17);
  stats.store.ages.idle_before_eviction[1].Observe(5, 20);
  stats.store.ages.idle_before_eviction[2].Observe(6, 21);
  stats.store.host_stored_blocks = 22;
  stats.store.expired_blocks = 18;
  stats.store.dropped_blocks = 19;
  engine_.SetStats(stats);
  EXPECT_THAT(Page(), AllOf(HasSubstr(Line("headstart_cache_resident_bytes{tier=\"host\"}", 4 * block_bytes_)),
                            HasSubstr(Line("headstart_cache_resident_bytes{tier=\"disk\"}", 500 * block_bytes_)),
                            HasSubstr(Line("headstart_tier_read_bytes_total{tier=\"disk\"}", 11 * block_bytes_)),
                            HasSubstr(Line("headstart_tier_read_bytes_total{tier=\"host\"}", 12 * block_bytes_)),
                            HasSubstr(Line("headstart_tier_written_bytes_total{tier=\"disk\"}", 13 * block_bytes_)),
                            HasSubstr("headstart_tier_failures_total{tier=\"disk\"} 14\n"),
                            HasSubstr("headstart_tier_outages_total{tier=\"disk\"} 15\n"),
                            HasSubstr("headstart_tier_on{tier=\"disk\"} 0\n"),
                            HasSubstr("headstart_corrupt_blocks_total 16\n")));
  EXPECT_THAT(Page(), AllOf(HasSubstr("{tier=\"device\",reason=\"capacity\"} 17\n"),
                            HasSubstr("{tier=\"host\",reason=\"capacity\"} 20\n"),
                            HasSubstr("{tier=\"disk\",reason=\"capacity\"} 21\n"),
                            HasSubstr(Line("headstart_tier_written_bytes_total{tier=\"host\"}", 22 * block_bytes_)),
                            HasSubstr("{tier=\"all\",reason=\"expired\"} 18\n"),
                            HasSubstr("{tier=\"all\",reason=\"dropped\"} 19\n")));
}

TEST_F(EngineMetricsTest, AgesOfBlocksAndTimesOfTransfers) {
  EngineStats stats;
  stats.store.ages.reuse_gap.Observe(45, 2);
  stats.store.ages.lifetime.Observe(3600);
  stats.store.ages.idle_before_eviction[1].Observe(9);
  stats.store.transfers.host_reads.Observe(0.0002);
  stats.store.transfers.disk_reads.Observe(0.002, 3);
  stats.store.transfers.disk_writes.Observe(100);
  engine_.SetStats(stats);
  const std::string transfer = "headstart_tier_transfer_duration_seconds";
  EXPECT_THAT(Page(), AllOf(HasSubstr("headstart_cache_block_reuse_gap_seconds_bucket{le=\"30\"} 0\n"),
                            HasSubstr("headstart_cache_block_reuse_gap_seconds_bucket{le=\"60\"} 2\n"),
                            HasSubstr("headstart_cache_block_reuse_gap_seconds_sum 90\n"),
                            HasSubstr("headstart_cache_block_lifetime_seconds_bucket{le=\"3600\"} 1\n"),
                            HasSubstr("headstart_cache_block_idle_before_eviction_seconds_sum{tier=\"host\"} 9\n"),
                            HasSubstr("headstart_cache_block_idle_before_eviction_seconds_count{tier=\"disk\"} 0\n")));
  EXPECT_THAT(Page(), AllOf(HasSubstr(transfer + "_count{tier=\"host\",direction=\"read\"} 1\n"),
                            HasSubstr(transfer + "_count{tier=\"disk\",direction=\"read\"} 3\n"),
                            HasSubstr(transfer + "_bucket{tier=\"disk\",direction=\"write\",le=\"10\"} 0\n"),
                            HasSubstr(transfer + "_bucket{tier=\"disk\",direction=\"write\",le=\"+Inf\"} 1\n")));
}

TEST_F(EngineMetricsTest, NamesOfOtherServers) {
  EngineStats stats;
  stats.store.pool_blocks = 64;
  stats.queried_tokens = 1000;
  stats.hit_tokens = 900;
  engine_.SetStats(stats);
  RequestRecord record;
  record.usage.completion_tokens = 3;
  record.token_gaps.Observe(0.01, 2);
  requests_.OnRequestFinished(record);
  EXPECT_THAT(
      Page(),
      AllOf(HasSubstr("vllm:prefix_cache_queries_total{model_name=\"demo\"} 1000\n"),
            HasSubstr("vllm:prefix_cache_hits_total{model_name=\"demo\"} 900\n"),
            HasSubstr("vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"64\",model_name=\"demo\"} 1\n"),
            HasSubstr("vllm:time_to_first_token_seconds_count{model_name=\"demo\"} 1\n"),
            HasSubstr("vllm:inter_token_latency_seconds_count{model_name=\"demo\"} 2\n")));
}

TEST_F(EngineMetricsTest, SaysWhatRuns) {
  EXPECT_THAT(Page(), HasSubstr(std::string("headstart_build_info{version=\"") + std::string(Version()) +
                                "\",model=\"demo\",fingerprint=\"00000000000000010000000000000002\"} 1\n"));
}

}  // namespace
}  // namespace headstart::testing
