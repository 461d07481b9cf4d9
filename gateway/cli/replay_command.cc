#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "prefix_store/replay/belady.h"
#include "prefix_store/replay/hit_ratio_plot.h"
#include "prefix_store/replay/replay.h"

namespace headstart {
namespace {

// Of a tier: more than any holds, and the replay itself takes gigabytes of memory for as many.
constexpr int64_t kMostBlocks = 100'000'000;

struct ReplayFlags {
  std::vector<std::string> traces;
  std::vector<std::string> policies = {"hit-density", "lru", "lfu"};
  std::vector<int64_t> capacities;
  int64_t host_blocks = 0;
  int64_t disk_blocks = 0;
  bool no_bound = false;
  std::string plot;
};

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// From a hundredth of what the trace asks for in all up to all of it, four to a factor of ten.
std::vector<int64_t> CapacitiesFor(const Trace& trace) {
  std::vector<int64_t> capacities;
  for (int step = 0; step <= 8; ++step) {
    const double share = std::pow(10, step / 4.0 - 2);
    capacities.push_back(std::max<int64_t>(1, std::llround(share * trace.distinct_blocks)));
  }
  return capacities;
}

class ReplayTable {
 public:
  void Add(std::string_view policy, int64_t capacity, const ReplayResult& result) {
    if (rows_.empty()) AddHeading(result);
    auto row = RowOf(policy, capacity, result.block_hit_ratio(), result.token_hit_ratio());
    for (const TierHits& tier : result.hits) row.push_back(fmt::format("{}", tier.tokens));
    row.push_back(fmt::format("{}", result.evicted_blocks));
    for (const OperationTime* time : {&result.acquire, &result.publish, &result.release}) {
      row.push_back(fmt::format("{:.1f}", time->mean_ns() / 1000));
    }
    rows_.push_back(std::move(row));
  }

  void AddBound(int64_t capacity, const BeladyResult& bound) {
    auto row = RowOf("belady", capacity, bound.block_hit_ratio, bound.token_hit_ratio);
    if (!rows_.empty()) row.resize(rows_.front().size());
    rows_.push_back(std::move(row));
  }

  std::string Format() const { return FormatTable(rows_); }

 private:
  static std::vector<std::string> RowOf(std::string_view policy, int64_t capacity, double blocks, double tokens) {
    return {std::string(policy), fmt::format("{}", capacity), fmt::format("{:.4f}", blocks),
            fmt::format("{:.4f}", tokens)};
  }

  void AddHeading(const ReplayResult& result) {
    std::vector<std::string> heading = {"policy", " blocks", " block hit ratio", " token hit ratio"};
    for (const TierHits& tier : result.hits) heading.push_back(fmt::format(" {} hit tokens", tier.tier));
    for (const char* name : {" evictions", " acquire us", " publish us", " release us"}) heading.emplace_back(name);
    rows_.push_back(std::move(heading));
  }

  std::vector<std::vector<std::string>> rows_;
};

// REQUIRES: `name` is a policy's.
absl::StatusOr<HitRatioCurve> RunPolicy(const Trace& trace, const std::string& name,
                                        const std::vector<int64_t>& capacities, const ReplayFlags& flags,
                                        ReplayTable& table) {
  const auto policy = EvictionPolicyFromName(name);
  HitRatioCurve curve{.name = name, .points = {}};
  for (const int64_t capacity : capacities) {
    const auto result = Replay(trace,
                               {.capacity_blocks = capacity,
                                .host_blocks = flags.host_blocks,
                                .disk_blocks = flags.disk_blocks,
                                .policy = *policy},
                               SteadyNs);
    if (!result.ok()) return result.status();
    table.Add(name, capacity, *result);
    curve.points.push_back({capacity, result->block_hit_ratio()});
  }
  return curve;
}

// Of one tier as large as all of them.
HitRatioCurve RunBound(const Trace& trace, const std::vector<int64_t>& capacities, const ReplayFlags& flags,
                       ReplayTable& table) {
  HitRatioCurve curve{.name = "belady", .points = {}};
  for (const int64_t capacity : capacities) {
    const BeladyResult bound = BeladyBound(trace, capacity + flags.host_blocks + flags.disk_blocks);
    table.AddBound(capacity, bound);
    curve.points.push_back({capacity, bound.block_hit_ratio});
  }
  return curve;
}

absl::Status PlotCannotBeWritten(const std::string& path) {
  return absl::UnavailableError(fmt::format("{}: cannot be written; give --plot a path that can", path));
}

// What would otherwise be found wrong after minutes of work.
absl::Status CheckReplay(const ReplayFlags& flags) {
  for (const std::string& name : flags.policies) {
    if (EvictionPolicyFromName(name)) continue;
    return absl::InvalidArgumentError(
        fmt::format("--policy has \"{}\"; choose from lru, lfu, segmented-lru and hit-density", name));
  }
  if (flags.disk_blocks > 0 && flags.host_blocks == 0) {
    return absl::InvalidArgumentError("--disk is given and --host is not; blocks reach the disk through host memory");
  }
  const bool can_plot = flags.plot.empty() || std::ofstream(flags.plot, std::ios::app).is_open();
  return can_plot ? absl::OkStatus() : PlotCannotBeWritten(flags.plot);
}

absl::Status WritePlot(const std::string& path, const std::vector<HitRatioCurve>& curves) {
  std::ofstream file(path);
  file << HitRatioPlot("Block hit ratio by capacity", curves);
  file.close();
  return file ? absl::OkStatus() : PlotCannotBeWritten(path);
}

absl::Status RunReplay(const ReplayFlags& flags) {
  if (auto status = CheckReplay(flags); !status.ok()) return status;
  const auto trace = ReadTrace(flags.traces);
  if (!trace.ok()) return trace.status();
  PrintNow(fmt::format("{} requests, {} distinct blocks of {} tokens\n", trace->requests.size(), trace->distinct_blocks,
                       trace->block_tokens));
  const auto capacities = flags.capacities.empty() ? CapacitiesFor(*trace) : flags.capacities;
  ReplayTable table;
  std::vector<HitRatioCurve> curves;
  for (const std::string& name : flags.policies) {
    auto curve = RunPolicy(*trace, name, capacities, flags, table);
    if (!curve.ok()) return curve.status();
    curves.push_back(*std::move(curve));
  }
  if (!flags.no_bound) curves.push_back(RunBound(*trace, capacities, flags, table));
  PrintNow(table.Format());
  return flags.plot.empty() ? absl::OkStatus() : WritePlot(flags.plot, curves);
}

}  // namespace

void AddReplayCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = app.add_subcommand("replay", "See what the cache would have found on a recorded trace");
  command->footer(
      "\nReads Mooncake's traces (JSON lines) and WEKA's recorded sessions (JSON); several files are replayed as one.\n"
      "Example:\n  headstart replay conversation_trace.jsonl --capacity 1000,5859,10000 --plot curve.svg\n");
  command->add_option("trace", flags->traces, "Trace files")->required();
  command->add_option("--policy", flags->policies, "Policies: lru, lfu, segmented-lru, hit-density")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--capacity", flags->capacities, "Capacities in the trace's blocks; default: nine that fit it")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kMostBlocks));
  command->add_option("--host", flags->host_blocks, "Blocks of host memory below each capacity")
      ->check(CLI::Range(int64_t{0}, kMostBlocks));
  command->add_option("--disk", flags->disk_blocks, "Blocks of disk below that; needs --host")
      ->check(CLI::Range(int64_t{0}, kMostBlocks));
  command->add_flag("--no-bound", flags->no_bound,
                    "Leave out Belady's bound for all tiers together, which knows the future");
  command->add_option("--plot", flags->plot, "Draw hit ratio against capacity into this SVG file");
  command->callback([flags, &action] {
    action = [flags] {
      const absl::Status status = RunReplay(*flags);
      return status.ok() ? kExitOk : PrintError(status);
    };
  });
}

}  // namespace headstart
