#include "gateway/cli/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gateway/cli/commands.h"
#include "google/protobuf/util/json_util.h"

namespace headstart {
namespace {

// Columns, not bytes: continuation bytes of UTF-8 take no place.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Pad(std::string_view cell, size_t width, bool right) {
  const std::string fill(width - std::min(width, Width(cell)), ' ');
  return right ? fill + std::string(cell) : std::string(cell) + fill;
}

std::vector<size_t> Widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  return widths;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{}";
}

std::string ProgramPath() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "headstart";
  const auto relative = std::filesystem::proximate(path, error).string();
  return error || relative.starts_with("..") ? path.string() : relative;
}

void PrintNow(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int Written(int exit_code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  return PrintError(
      absl::DataLossError("standard output did not take all of what was written to it; is its disk full?"));
}

int PrintError(const absl::Status& status) {
  std::fflush(stdout);
  fmt::print(stderr, "error: {}\n", std::string(status.message()));
  return kExitFailure;
}

absl::Duration ToAbsl(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

std::string ReadableDuration(absl::Duration duration) {
  const double ms = absl::ToDoubleMilliseconds(duration);
  if (ms < 10) return fmt::format("{:.2f} ms", ms);
  if (ms < 1000) return fmt::format("{:.0f} ms", ms);
  return fmt::format("{:.2f} s", ms / 1000);
}

std::string Counted(int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// " (5 host, 7 disk)" when not all of it was on the device.
std::string BelowTheDevice(const v1::TierTokens& cached) {
  std::vector<std::string> parts;
  const auto add = [&](int64_t tokens, std::string_view tier) {
    if (tokens > 0) parts.push_back(fmt::format("{} {}", tokens, tier));
  };
  add(cached.device(), "device");
  add(cached.host(), "host");
  add(cached.disk(), "disk");
  add(cached.remote(), "remote");
  const bool device_alone = parts.empty() || (parts.size() == 1 && cached.device() > 0);
  return device_alone ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

void PrintAccount(const Answer& answer) {
  const v1::Usage& usage = answer.finished.usage();
  const v1::Timings& timings = answer.finished.timings();
  const bool is_cut = answer.finished.reason() == v1::FINISH_REASON_LENGTH;
  fmt::print(stderr, "[prompt {} tokens: {} cached{}, {} computed | answer {} tokens{} | written to cache {}]\n",
             usage.prompt_tokens(), usage.cached_tokens(), BelowTheDevice(usage.cached_by_tier()),
             usage.computed_prompt_tokens(), usage.completion_tokens(),
             is_cut ? ", cut off by --max-tokens or the context" : "", usage.cache_write_tokens());
  fmt::print(stderr, "[first token {} | queue {} | total {}]\n",
             ReadableDuration(ToAbsl(timings.time_to_first_token())), ReadableDuration(ToAbsl(timings.queue())),
             ReadableDuration(ToAbsl(timings.total())));
  if (answer.finished.receipt().budget_warning()) {
    fmt::print(stderr, "[the tenant's soft budget is used up; requests are refused from the hard one on]\n");
  }
}

void PrintJson(const google::protobuf::Message& message) { PrintNow(ToJson(message) + "\n"); }

void PrintJson(const Answer& answer) {
  v1::GenerateDelta text;
  text.set_text(answer.text);
  PrintNow(fmt::format("{{\"started\":{},\"delta\":{},\"finished\":{}}}\n", ToJson(answer.started), ToJson(text),
                       ToJson(answer.finished)));
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<size_t> widths = Widths(rows);
  std::string table;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      line += (i == 0 ? "" : "  ") + Pad(rows[r][i], widths[i], rows.front()[i].starts_with(' '));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table += line + "\n";
    if (r == 0) {
      for (size_t i = 0; i < widths.size(); ++i) table += (i == 0 ? "" : "  ") + std::string(widths[i], '-');
      table += "\n";
    }
  }
  return table;
}

}  // namespace headstart
