// What the account costs: postings a second with each group synced, what one costs its caller, and a report.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "fmt/format.h"
#include "gateway/ledger/ledger_accountant.h"

namespace headstart {
namespace {

// A ledger in the system's temporary folder, or in memory.
class Bench {
 public:
  explicit Bench(bool on_disk) {
    LedgerAccountantOptions options;
    if (on_disk) {
      std::string name = (std::filesystem::temp_directory_path() / "headstart_ledger_bench_XXXXXX").string();
      if (mkdtemp(name.data()) != nullptr) folder_ = name;
      options.ledger.directory = folder_ + "/ledger";
    }
    accountant_ = *LedgerAccountant::Open(std::move(options));
  }
  ~Bench() {
    accountant_.reset();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  LedgerAccountant& accountant() { return *accountant_; }

  RequestRecord Next() {
    RequestRecord record;
    record.request_id = fmt::format("r-{:016x}", ++posted_);
    record.tenant = fmt::format("tenant-{}", posted_ % 16);
    record.key_id = "web";
    record.model = "qwen3-0.6b";
    record.labels = {{"team", "search"}, {"feature", "answers"}};
    record.start = absl::FromUnixSeconds(1'796'000'000) + absl::Milliseconds(posted_);
    record.end = record.start + absl::Milliseconds(200);
    record.usage.prompt_tokens = 2080;
    record.usage.cached_device_tokens = 2048;
    record.usage.computed_prompt_tokens = 32;
    record.usage.completion_tokens = 100;
    return record;
  }

 private:
  std::string folder_;
  std::unique_ptr<LedgerAccountant> accountant_;
  int64_t posted_ = 0;
};

// As many callers as can be: the thread's own pace.
void PostThroughput(benchmark::State& state) {
  Bench bench(state.range(0) != 0);
  constexpr int kAtOnce = 1000;
  for (auto _ : state) {
    for (int i = 0; i < kAtOnce; ++i) bench.accountant().Record(bench.Next(), nullptr);
    bench.accountant().ledger().Flush();
  }
  state.SetItemsProcessed(state.iterations() * kAtOnce);
}
BENCHMARK(PostThroughput)->ArgName("disk")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);

// One caller who waits for each: the sync.
void PostAndWait(benchmark::State& state) {
  Bench bench(state.range(0) != 0);
  for (auto _ : state) {
    std::promise<void> told;
    bench.accountant().Record(bench.Next(), [&told](const v1::Receipt&) { told.set_value(); });
    told.get_future().wait();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(PostAndWait)->ArgName("disk")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMicrosecond);

// What the scheduler's thread pays: making the record is left out, the ledger's thread runs beside it.
void CallersCost(benchmark::State& state) {
  Bench bench(/*on_disk=*/true);
  for (auto _ : state) {
    state.PauseTiming();
    RequestRecord record = bench.Next();
    state.ResumeTiming();
    bench.accountant().Record(std::move(record), nullptr);
  }
}
BENCHMARK(CallersCost)->Iterations(50'000)->Unit(benchmark::kNanosecond);

// An id that was never used.
void AdmitNewId(benchmark::State& state) {
  Bench bench(/*on_disk=*/true);
  for (int i = 0; i < 100'000; ++i) bench.accountant().Record(bench.Next(), nullptr);
  bench.accountant().ledger().Flush();
  int64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(bench.accountant().Admit(
        {.tenant = "tenant-1", .request_id = fmt::format("new-{}", ++number), .request_digest = 1}));
  }
}
BENCHMARK(AdmitNewId)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headstart
