#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "fmt/format.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/commands.h"
#include "gateway/cli/report.h"
#include "gateway/cli/usage_client.h"
#include "gateway/cli/usage_report.h"
#include "gateway/config/flags.h"
#include "gateway/services/proto_time.h"

namespace headstart {
namespace {

enum class Format { kJsonLines, kCsv };

struct UsageFlags {
  ClientFlags client;
  std::string from;
  std::string to;
  std::string tenant;
  std::string by = "tenant";
  bool json = false;
  Format format = Format::kJsonLines;
  std::string output;
  bool force = false;
};

// Of a list or an export. INVALID_ARGUMENT naming the flag.
template <typename Request>
absl::Status Fill(const UsageFlags& flags, Request& request) {
  const absl::Time now = absl::Now();
  absl::Time from = absl::InfinitePast(), to = absl::InfiniteFuture();
  request.set_tenant(flags.tenant);
  for (const auto& [flag, text] : {std::pair("--from", flags.from), std::pair("--to", flags.to)}) {
    if (text.empty()) continue;
    const auto time = ParseWhen(text, now);
    if (!time.ok()) {
      return absl::InvalidArgumentError(fmt::format("{}: {}", flag, std::string(time.status().message())));
    }
    const bool is_from = std::string_view(flag) == "--from";
    (is_from ? from : to) = *time;
    Set(*time, is_from ? request.mutable_start_time() : request.mutable_end_time());
  }
  if (from <= to) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("--to {} is before --from {}", flags.to, flags.from));
}

int WrongUsage(const absl::Status& status) {
  PrintError(status);
  return kExitUsage;
}

int List(const UsageFlags& flags) {
  v1::ListUsageRequest request;
  absl::Status status = Fill(flags, request);
  if (status.ok() && flags.by != "none") status = ParseDimensions(flags.by, request);
  if (!status.ok()) return WrongUsage(status);
  const auto usage = UsageClient(flags.client).ListUsage(request);
  if (!usage.ok()) return PrintError(usage.status());
  if (flags.json) {
    PrintJson(*usage);
  } else {
    PrintNow(FormatUsage(request, *usage));
  }
  return kExitOk;
}

absl::Status Export(const UsageFlags& flags, const v1::ExportUsageRequest& request, std::ostream& out) {
  if (flags.format == Format::kCsv) out << UsageCsvHeader();
  const auto write = [&](const v1::UsageEntry& entry) {
    out << (flags.format == Format::kCsv ? UsageCsvLine(entry) : UsageJsonLine(entry));
    return out.good();
  };
  absl::Status status = UsageClient(flags.client).ExportUsage(request, write);
  if (status.ok() && !out.flush().good()) {
    status =
        absl::DataLossError(fmt::format("cannot write to {}", flags.output.empty() ? "standard output" : flags.output));
  }
  return status;
}

absl::Status ExportTo(const std::string& path, const UsageFlags& flags, const v1::ExportUsageRequest& request) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  return file ? Export(flags, request, file) : absl::ErrnoToStatus(errno, fmt::format("cannot write {}", flags.output));
}

// The file has its name once it is whole, so that a failure neither leaves half an account nor takes an earlier one.
absl::Status ExportToFile(const UsageFlags& flags, const v1::ExportUsageRequest& request) {
  std::error_code error;
  const bool exists = std::filesystem::exists(flags.output, error);
  const bool is_file = !exists || std::filesystem::is_regular_file(flags.output, error);
  if (!is_file) return ExportTo(flags.output, flags, request);  // a pipe or a terminal
  if (exists && !flags.force) {
    return absl::AlreadyExistsError(
        fmt::format("{} exists already; name another file, or overwrite it with --force", flags.output));
  }
  const std::string partial = fmt::format("{}.partial-{}", flags.output, getpid());  // nobody else's
  absl::Status status = ExportTo(partial, flags, request);
  if (status.ok()) {
    std::filesystem::rename(partial, flags.output, error);
    if (error) status = absl::ErrnoToStatus(error.value(), fmt::format("cannot write {}", flags.output));
  }
  if (!status.ok()) std::filesystem::remove(partial, error);
  return status;
}

int RunExport(const UsageFlags& flags) {
  v1::ExportUsageRequest request;
  if (absl::Status status = Fill(flags, request); !status.ok()) return WrongUsage(status);
  const absl::Status status = flags.output.empty() ? Export(flags, request, std::cout) : ExportToFile(flags, request);
  return status.ok() ? kExitOk : PrintError(status);
}

void AddTimes(CLI::App& command, UsageFlags& flags) {
  command.add_option("--from", flags.from, "Only usage from then on: 7d or 12h ago, 2026-11-30, 2026-11-30T10:00:00Z");
  command.add_option("--to", flags.to, "Only usage before then");
  command.add_option("--tenant", flags.tenant, "Only this tenant's; operators see everybody's without it")
      ->check(CheckUtf8);
  AddClientFlags(command, flags.client);
}

}  // namespace

void AddUsageCommand(CLI::App& app, Action& action) {
  auto flags = std::make_shared<UsageFlags>();
  CLI::App* usage = app.add_subcommand("usage", "Show what was used and what it cost, of a running server");
  usage->footer(
      "\nExamples:\n"
      "  headstart usage --from 7d --by day\n"
      "  headstart usage --from 2026-11-01 --to 2026-12-01 --by tenant,model\n"
      "  headstart usage --by label=team --json\n"
      "  headstart usage export --format csv --from 2026-11-01 -o november.csv\n");
  usage->require_subcommand(0, 1);
  usage
      ->add_option(
          "--by", flags->by,
          "What to group by, with commas between: tenant, key, model, label=NAME, hour, day; or none, for totals alone")
      ->check(CheckUtf8)
      ->capture_default_str();
  usage->add_flag("--json", flags->json, "Print one JSON object");
  AddTimes(*usage, *flags);

  // The same flags: what stands before `export` is meant for it, too.
  CLI::App* exported = usage->add_subcommand("export", "Write every record, oldest first");
  AddChoice<Format>(*exported, "--format", flags->format, {{"jsonl", Format::kJsonLines}, {"csv", Format::kCsv}},
                    "Lines of JSON, or a table");
  exported->add_option("-o,--output", flags->output, "A file; standard output without it");
  exported->add_flag("--force", flags->force, "Write over a file that is there");
  AddTimes(*exported, *flags);

  usage->callback([flags, exported, &action] {
    if (exported->parsed()) {
      action = [flags] { return RunExport(*flags); };
    } else {
      action = [flags] { return List(*flags); };
    }
  });
}

}  // namespace headstart
