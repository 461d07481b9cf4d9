// What a scrape costs, and what requests pay for being counted while somebody scrapes.

#include <atomic>
#include <thread>

#include "benchmark/benchmark.h"
#include "fmt/format.h"
#include "gateway/telemetry/engine_metrics.h"
#include "gateway/telemetry/metrics_page.h"
#include "gateway/telemetry/request_metrics.h"
#include "tests/gateway/fake_engine.h"

namespace headstart {
namespace {

v1::UsageEntry EntryOf(int tenant) {
  v1::UsageEntry entry;
  entry.set_tenant(fmt::format("tenant-{:03}", tenant));
  return entry;
}

v1::UsageTotals SomeUsage() {
  v1::UsageTotals added;
  added.mutable_usage()->mutable_cached_by_tier()->set_device(123'456'789);
  added.mutable_usage()->set_computed_prompt_tokens(98'765'432);
  added.mutable_usage()->set_completion_tokens(1'234'567);
  added.mutable_charge()->set_currency("USD");
  added.mutable_charge()->set_cost_nanos(12'345'678'901'234);
  added.mutable_charge()->set_cost_without_cache_nanos(123'456'789'012'345);
  return added;
}

RequestRecord RecordOf(int tenant) {
  RequestRecord record;
  record.tenant = fmt::format("tenant-{:03}", tenant);
  record.usage.completion_tokens = 100;
  record.timings.ttft = absl::Milliseconds(20);
  return record;
}

struct Metrics {
  explicit Metrics(int tenants) {
    for (int i = 0; i < tenants; ++i) {
      requests.OnBilled(EntryOf(i), SomeUsage());
      requests.OnRequestFinished(RecordOf(i));
    }
  }
  testing::FakeEngine engine;
  RequestMetrics requests{{}};
  EngineMetrics engine_metrics{engine, requests, "demo"};
  MetricsPage page{{&requests, &engine_metrics}};
};

void BM_Render(benchmark::State& state) {
  Metrics metrics(static_cast<int>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) bytes = metrics.page.Render().size();
  state.counters["page_bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Render)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

// The engine's thread counts a request; another one scrapes without a pause.
void BM_CountRequest(benchmark::State& state) {
  Metrics metrics(100);
  std::atomic<bool> done = false;
  std::thread scraper([&] {
    while (!done && state.range(0) != 0) benchmark::DoNotOptimize(metrics.page.Render());
  });
  const RequestRecord record = RecordOf(50);
  for (auto _ : state) metrics.requests.OnRequestFinished(record);
  done = true;
  scraper.join();
}
BENCHMARK(BM_CountRequest)->ArgName("scraped")->Arg(0)->Arg(1);

}  // namespace
}  // namespace headstart
