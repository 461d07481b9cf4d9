#include "prefix_store/replay/trace.h"

#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "fmt/format.h"

namespace headstart {
namespace {

absl::StatusOr<Trace> ReadOne(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return absl::NotFoundError(fmt::format("{}: cannot be read, or is empty; name a trace file", path));
  }
  auto trace = ParseTrace(text.view());
  if (trace.ok()) return trace;
  return absl::Status(trace.status().code(), fmt::format("{}: {}", path, std::string(trace.status().message())));
}

absl::Status Append(Trace part, Trace& all) {
  if (part.block_tokens != all.block_tokens) {
    return absl::InvalidArgumentError(
        fmt::format("one trace has blocks of {} tokens and another of {}; replay them one by one", all.block_tokens,
                    part.block_tokens));
  }
  if (part.distinct_blocks > std::numeric_limits<int32_t>::max() - all.distinct_blocks) {
    return absl::InvalidArgumentError("the traces have more than 2,147,483,647 distinct blocks; replay fewer at once");
  }
  for (TraceRequest& request : part.requests) {
    for (int32_t& block : request.blocks) block += all.distinct_blocks;
    all.requests.push_back(std::move(request));
  }
  all.distinct_blocks += part.distinct_blocks;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Trace> MergeTraces(std::vector<Trace> traces) {
  if (traces.empty()) return absl::InvalidArgumentError("there is no trace to replay; name at least one file");
  Trace all{.block_tokens = traces.front().block_tokens, .requests = {}};
  for (Trace& trace : traces) {
    if (auto status = Append(std::move(trace), all); !status.ok()) return status;
  }
  std::stable_sort(all.requests.begin(), all.requests.end(),
                   [](const TraceRequest& a, const TraceRequest& b) { return a.at_ms < b.at_ms; });
  return all;
}

absl::StatusOr<Trace> ReadTrace(std::span<const std::string> paths) {
  std::vector<Trace> traces;
  for (const std::string& path : paths) {
    auto trace = ReadOne(path);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  return MergeTraces(std::move(traces));
}

}  // namespace headstart
