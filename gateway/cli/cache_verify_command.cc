#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "gateway/cli/cache_client.h"
#include "gateway/cli/cache_commands.h"
#include "gateway/cli/client_flags.h"
#include "gateway/cli/report.h"
#include "gateway/config/byte_size.h"
#include "gateway/config/flags.h"
#include "gateway/services/status_report.h"
#include "prefix_store/tier/disk_tier.h"

namespace headstart {
namespace {

struct VerifyFlags {
  ClientFlags client;
  std::string directory;
  bool json = false;
};

// Verifying takes the folder's lock, so that no server starts on it meanwhile, and a lock has to be written.
absl::Status CheckWritable(const std::string& directory) {
  if (access(directory.c_str(), W_OK) == 0 || errno != EROFS) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format(
      "{} is on a read-only file system, where its lock cannot be taken; mount it writable, or verify a copy",
      directory));
}

absl::StatusOr<v1::VerifyDiskResponse> VerifyStopped(const VerifyFlags& flags) {
  if (absl::Status writable = CheckWritable(flags.directory); !writable.ok()) return writable;
  auto report = DiskTier::VerifyDirectory(flags.directory, [](const BadBlock& bad) {
    fmt::print(stderr, "bad block at depth {}: {}\n", bad.depth, std::string(bad.status.message()));
  });
  if (!report.ok()) return report.status();
  v1::VerifyDiskResponse response;
  Fill(*report, response);
  return response;
}

// Blocks are written as they are evicted, the last of a prompt first: in a running store, or one that was killed, some
// wait for those before them.
std::string Orphans(const v1::VerifyDiskResponse& report) {
  if (report.orphan_blocks() == 0) return "";
  return fmt::format(", {} without what goes before", report.orphan_blocks());
}

int Verify(const VerifyFlags& flags) {
  auto report = flags.directory.empty() ? CacheClient(flags.client).VerifyDisk() : VerifyStopped(flags);
  if (!report.ok()) return PrintError(report.status());
  if (flags.json) {
    PrintJson(*report);
  } else {
    PrintNow(fmt::format("verified {}, {}: {} bad{}\n", Counted(report->blocks(), "block", "blocks"),
                         ReadableByteSize(report->bytes()), report->bad_blocks(), Orphans(*report)));
  }
  if (report->bad_blocks() == 0) return kExitOk;
  return PrintError(
      absl::DataLossError(fmt::format("{} of {} blocks are damaged; they are never handed out, and what they held is "
                                      "computed anew when it is asked for",
                                      report->bad_blocks(), report->blocks())));
}

}  // namespace

void AddCacheVerifyCommand(CLI::App& cache, Action& action) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = cache.add_subcommand("verify", "Read every block on disk and count the damaged ones");
  command->footer(
      "\nEnds with 0 when every block is good, and with 1 otherwise. Changes nothing.\n"
      "\nExamples:\n"
      "  headstart cache verify                                 a running server's disk\n"
      "  headstart cache verify --dir /var/cache/headstart      a stopped server's\n");
  CLI::Option* directory =
      command->add_option("--dir", flags->directory, "The --disk-cache-dir of a server that is stopped")
          ->check(CheckNotEmpty);
  AddClientFlags(*command, flags->client)->excludes(directory);
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags, &action] { action = [flags] { return Verify(*flags); }; });
}

}  // namespace headstart
