#include "gateway/config/engine_flags.h"

#include <unistd.h>

#include "CLI/CLI.hpp"
#include "absl/strings/str_replace.h"
#include "fmt/format.h"
#include "gateway/config/byte_size.h"
#include "gateway/config/flags.h"

namespace headstart {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxTokens = 1 << 24;

void AddBehaviour(CLI::App& app, EngineOptions& options) {
  AddChoice<std::string>(app, "--backend", options.backend, {{"cpu", "cpu"}, {"reference", "reference"}},
                         "What computes: the fast kernels, or the slow ones that they are checked against");
  AddChoice<DType>(app, "--kv-dtype", options.kv_dtype, {{"bf16", DType::kBF16}, {"f32", DType::kF32}},
                   "Type of cached keys and values");
  app.add_option("--block-tokens", options.block_tokens, "Tokens in one block of the cache: a power of two, 8 to 256")
      ->capture_default_str();
  AddByteSize(app, "--kv-cache-size", options.kv_cache_bytes, "Memory for cached keys and values, such as 2GiB");
  app.add_option("--max-context-tokens", options.max_context_tokens,
                 "Longest prompt and answer together; 0 is the model's own")
      ->check(CLI::Range(0, kMaxTokens))
      ->capture_default_str();
  AddChoice<EvictionPolicyKind>(app, "--eviction-policy", options.eviction_policy,
                                {{"hit-density", EvictionPolicyKind::kHitDensity},
                                 {"segmented-lru", EvictionPolicyKind::kSegmentedLru},
                                 {"lru", EvictionPolicyKind::kLru},
                                 {"lfu", EvictionPolicyKind::kLfu}},
                                "What is forgotten first");
}

void AddTiers(CLI::App& app, EngineOptions& options) {
  AddByteSize(app, "--host-cache-size", options.host_cache_bytes,
              "Host memory for what no longer fits --kv-cache-size; 0 is none");
  app.add_option("--disk-cache-dir", options.disk_cache_directory,
                 "Folder for what no longer fits host memory, kept for the next start; needs --disk-cache-size");
  AddByteSize(app, "--disk-cache-size", options.disk_cache_bytes,
              "Most that all files in --disk-cache-dir take, such as 64GiB");
  app.add_option("--io-threads", options.io_threads, "Threads that move cached blocks between memory and disk")
      ->check(CLI::Range(1, kMaxThreads))
      ->capture_default_str();
  app.add_option("--pinned-share", options.pinned_percent,
                 "Percent of --kv-cache-size that registered prefixes may hold")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
}

void AddLimits(CLI::App& app, EngineOptions& options) {
  app.add_option("--max-queue", options.max_queue, "Requests that may wait; further ones are refused")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--max-running", options.max_running, "Requests that run at the same time")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that compute; 0 is one for each core")
      ->check(CLI::Range(0, kMaxThreads))
      ->capture_default_str();
  app.add_option("--step-tokens", options.step_tokens,
                 "Tokens computed in one step: more reads prompts faster, fewer keeps running answers smoother")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
}

// Memory is mapped without being taken, so that too much of it would be noticed by the kernel alone, hours later.
absl::Status CheckMemory(const EngineOptions& options, int64_t memory_bytes) {
  const int64_t room = memory_bytes - options.kv_cache_bytes;
  if (room >= options.host_cache_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--kv-cache-size {} and --host-cache-size {} are more than the {} of memory that this machine has; "
                  "ask for less, and leave some for the model",
                  FormatByteSize(options.kv_cache_bytes), FormatByteSize(options.host_cache_bytes),
                  ReadableByteSize(memory_bytes)));
}

}  // namespace

void AddEngineFlags(CLI::App& app, EngineOptions& options) {
  AddBehaviour(app, options);
  AddTiers(app, options);
  AddLimits(app, options);
}

absl::Status WithFlagNames(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  return absl::InvalidArgumentError(
      absl::StrReplaceAll(status.message(), {{"kv_cache_bytes", "--kv-cache-size"},
                                             {"disk_cache_bytes", "--disk-cache-size"},
                                             {"max_context_tokens", "--max-context-tokens"},
                                             {"block_tokens", "--block-tokens"}}));
}

int64_t MachineMemoryBytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

absl::Status CheckEngineFlags(const EngineOptions& options, int64_t memory_bytes) {
  if (absl::Status status = CheckMemory(options, memory_bytes); !status.ok()) return status;
  const std::string& directory = options.disk_cache_directory;
  if (!directory.empty() && options.disk_cache_bytes == 0) {
    return absl::InvalidArgumentError(
        fmt::format("--disk-cache-dir is \"{}\", but --disk-cache-size is 0; say how much may be written there, "
                    "such as --disk-cache-size 64GiB",
                    directory));
  }
  if (directory.empty() && options.disk_cache_bytes > 0) {
    return absl::InvalidArgumentError(
        fmt::format("--disk-cache-size is {}, but --disk-cache-dir is not given; name the folder to write to",
                    FormatByteSize(options.disk_cache_bytes)));
  }
  return absl::OkStatus();
}

}  // namespace headstart
