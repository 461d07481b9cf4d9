#include "engine/engine.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/device_tier.h"
#include "engine/backend/reference/reference_backend.h"
#include "engine/prefix_calls.h"
#include "engine/scheduler/scheduler_thread.h"
#include "fmt/format.h"
#include "prefix_store/tier/host_memory.h"
#include "prefix_store/tier/host_tier.h"
#include "prefix_store/transfer/io_executor.h"

namespace headstart {
namespace {

// What the options come to for one model.
struct EnginePlan {
  TransformerOptions transformer;
  PrefixStoreOptions store;
  SchedulerOptions scheduler;
};

absl::Status CheckAtLeast(std::string_view option, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{} is {}: it is at least {}.", option, value, least));
}

absl::Status CheckOptions(const EngineOptions& options, const ModelConfig& config) {
  // The store's own check of block_tokens comes first: sizes are computed from it. One block stands for the pool.
  absl::Status status = PrefixStore::Validate({.block_tokens = options.block_tokens, .device_blocks = 1});
  status.Update(CheckAtLeast("max_queue", options.max_queue, 1));
  status.Update(CheckAtLeast("max_running", options.max_running, 1));
  status.Update(CheckAtLeast("threads", options.threads, 0));
  status.Update(CheckAtLeast("step_tokens", options.step_tokens, 1));
  status.Update(CheckAtLeast("max_context_tokens", options.max_context_tokens, 0));
  status.Update(CheckAtLeast("host_cache_bytes", options.host_cache_bytes, 0));
  status.Update(CheckAtLeast("io_threads", options.io_threads, 1));
  if (!options.disk_cache_directory.empty())
    status.Update(CheckAtLeast("disk_cache_bytes", options.disk_cache_bytes, 1));
  if (!status.ok()) return status;
  if (options.max_context_tokens <= config.max_positions) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("max_context_tokens is {}: the context of {} has {} tokens.",
                                                options.max_context_tokens, config.name, config.max_positions));
}

// Turns the bytes of the cache into blocks, and sees that a context fits them.
absl::Status PlanMemory(const EngineOptions& options, const ModelConfig& config, EnginePlan& plan) {
  const KvShape shape = Transformer::KvShapeOf(config, plan.transformer);
  const int64_t blocks = options.kv_cache_bytes / shape.bytes_per_block();
  if (blocks < 1) {
    return absl::InvalidArgumentError(
        fmt::format("kv_cache_bytes is {}: one block of {} tokens of {} takes {} bytes; give it "
                    "at least that.",
                    options.kv_cache_bytes, shape.block_tokens, config.name, shape.bytes_per_block()));
  }
  const int64_t pool_tokens = blocks * shape.block_tokens;
  if (options.max_context_tokens > pool_tokens) {
    return absl::InvalidArgumentError(fmt::format(
        "kv_cache_bytes is {}, which holds {} tokens: a context of max_context_tokens = {} takes {} bytes; give it "
        "at least that.",
        options.kv_cache_bytes, pool_tokens, options.max_context_tokens,
        options.max_context_tokens * shape.bytes_per_token()));
  }
  if (const absl::Status status = PrefixStore::Validate({.block_tokens = shape.block_tokens, .device_blocks = blocks});
      !status.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("kv_cache_bytes is {}, which makes {} blocks of {} bytes: there can be "
                    "4 billion of them; give it less, or make block_tokens larger.",
                    options.kv_cache_bytes, blocks, shape.bytes_per_block()));
  }
  plan.transformer.slots = blocks;
  plan.store.device_blocks = blocks;
  plan.scheduler.max_context_tokens = options.max_context_tokens > 0
                                          ? options.max_context_tokens
                                          : std::min<int64_t>(config.max_positions, pool_tokens);
  return PrefixStore::Validate(plan.store);
}

std::vector<TokenId> EndTokens(const ModelSource& source) {
  std::vector<TokenId> tokens;
  for (const int32_t id : source.config().eos_token_ids) tokens.push_back(TokenId{id});
  if (tokens.empty() && source.tokenizer().eos) tokens.push_back(*source.tokenizer().eos);
  return tokens;
}

// Nobody outside can know it, so nobody can write prompts whose blocks collide in the index.
uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

absl::StatusOr<EnginePlan> Plan(const EngineOptions& options, const ModelSource& source) {
  if (absl::Status s = CheckOptions(options, source.config()); !s.ok()) return s;
  // A step takes at least a token of each that runs.
  const int running = std::min(options.max_running, options.step_tokens);
  EnginePlan plan{
      .transformer = {.kv_dtype = options.kv_dtype,
                      .block_tokens = options.block_tokens,
                      .max_step_tokens = options.step_tokens,
                      .max_logit_rows = running},
      .store = {.block_tokens = options.block_tokens,
                .policy = options.eviction_policy,
                .pinned_percent = options.pinned_percent,
                .on_event = options.on_event,
                .hash_seed = RandomSeed()},
      .scheduler = {.max_queue = options.max_queue,
                    .max_running = running,
                    .end_tokens = EndTokens(source),
                    .step_tokens = options.step_tokens},
  };
  if (absl::Status s = PlanMemory(options, source.config(), plan); !s.ok()) return s;
  return plan;
}

absl::StatusOr<std::unique_ptr<Backend>> NewBackend(const EngineOptions& options) {
  if (options.backend == "cpu") return NewCpuBackend({.threads = options.threads});
  if (options.backend == "reference") return NewReferenceBackend();
  return absl::InvalidArgumentError(fmt::format("backend is \"{}\": it is \"cpu\" or \"reference\".", options.backend));
}

absl::StatusOr<std::unique_ptr<const ChatTemplate>> NewChatTemplate(const ModelSource& source,
                                                                    const Tokenizer& tokenizer) {
  const auto text = [&](const std::optional<TokenId>& token) {
    return token ? tokenizer.TokenBytes(*token, /*with_special=*/true) : std::string();
  };
  const std::string& own = source.chat_template();
  return ChatTemplate::Parse(own.empty() ? ChatTemplate::ChatMl() : std::string_view(own), text(source.tokenizer().bos),
                             text(source.tokenizer().eos));
}

// The tiers of a store, with all they need, in the order in which each needs the one before.
struct Tiers {
  std::unique_ptr<DeviceTier> device;
  std::unique_ptr<HostMemory> memory;
  std::unique_ptr<HostTier> host;
  std::unique_ptr<DiskTier> disk;
  std::unique_ptr<NamedRecords> records;
  std::unique_ptr<IoExecutor> io;
};

// What an engine is made of, in the order in which each needs the one before.
struct EngineParts {
  ModelConfig config;
  bool has_own_chat_template = false;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<const ChatTemplate> chat_template;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Transformer> transformer;
  Tiers tiers;
  std::unique_ptr<SchedulerThread> scheduler;
};

class LocalEngine : public Engine {
 public:
  explicit LocalEngine(EngineParts parts) : parts_(std::move(parts)), prefixes_(*parts_.scheduler) {}

  absl::StatusOr<GenerationId> Submit(GenerationRequest request, std::shared_ptr<GenerationSink> sink) override {
    return parts_.scheduler->Submit(std::move(request), std::move(sink));
  }
  void Cancel(GenerationId id) override { parts_.scheduler->Cancel(id); }
  void Predict(Scope scope, std::vector<TokenId> tokens, std::function<void(const Match&)> done) override {
    parts_.scheduler->Predict(std::move(scope), std::move(tokens), std::move(done));
  }
  void CreatePrefix(PrefixSpec spec, PrefixDone done) override { prefixes_.Create(std::move(spec), std::move(done)); }
  void GetPrefix(Scope scope, std::string id, FoundPrefix done) override {
    prefixes_.Get(std::move(scope), std::move(id), std::move(done));
  }
  void UpdatePrefix(Scope scope, std::string id, absl::Time expires, FoundPrefix done) override {
    prefixes_.Update(std::move(scope), std::move(id), expires, std::move(done));
  }
  void DeletePrefix(Scope scope, std::string id, std::function<void(const absl::Status&)> done) override {
    prefixes_.Delete(std::move(scope), std::move(id), std::move(done));
  }
  void ListPrefixes(Scope scope, std::function<void(std::vector<CachedPrefix>)> done) override {
    prefixes_.List(std::move(scope), std::move(done));
  }
  void ListAllPrefixes(std::function<void(std::vector<CachedPrefix>)> done) override {
    prefixes_.ListAll(std::move(done));
  }
  void Flush(std::function<void(const absl::StatusOr<FlushReport>&)> done) override {
    prefixes_.Flush(std::move(done));
  }
  void PurgeTenant(std::string tenant, std::function<void(const absl::StatusOr<FlushReport>&)> done) override {
    prefixes_.PurgeTenant(std::move(tenant), std::move(done));
  }
  void VerifyDisk(std::function<void(const absl::StatusOr<VerifyReport>&)> done) override {
    if (parts_.tiers.disk == nullptr) return done(absl::FailedPreconditionError("This server has no disk cache."));
    parts_.tiers.io->Run(IoLane::kRead, [disk = parts_.tiers.disk.get(), done = std::move(done)] {
      done(disk->Verify([](const BadBlock&) {}));
    });
  }
  void Drain(std::function<void()> drained) override { parts_.scheduler->Drain(std::move(drained)); }
  void EndAll() override { parts_.scheduler->EndAll(); }

  EngineStats stats() const override { return parts_.scheduler->stats(); }
  const ModelConfig& config() const override { return parts_.config; }
  const KvShape& kv_shape() const override { return parts_.transformer->kv_shape(); }
  Fingerprint fingerprint() const override { return parts_.transformer->fingerprint(); }
  int max_context_tokens() const override { return static_cast<int>(parts_.scheduler->limits().max_context_tokens); }
  const Tokenizer& tokenizer() const override { return *parts_.tokenizer; }
  const ChatTemplate& chat_template() const override { return *parts_.chat_template; }
  bool has_own_chat_template() const override { return parts_.has_own_chat_template; }

 private:
  EngineParts parts_;  // members end in reverse order: the scheduler's thread first
  PrefixCalls prefixes_;
};

// Host slots when only the disk was asked for: what is on its way there, a few steps' worth.
constexpr int64_t kStagingBlocks = 64;

int64_t HostBlocks(const EngineOptions& options, int64_t block_bytes) {
  const int64_t asked = options.host_cache_bytes / block_bytes;
  return options.disk_cache_directory.empty() ? asked : std::max(asked, kStagingBlocks);
}

template <typename T>
absl::Status MoveTo(absl::StatusOr<T> result, T& to) {
  if (!result.ok()) return result.status();
  to = *std::move(result);
  return absl::OkStatus();
}

absl::Status OpenDisk(const EngineOptions& options, const Transformer& model, Tiers& tiers) {
  DiskTierOptions disk{.directory = options.disk_cache_directory,
                       .capacity_bytes = options.disk_cache_bytes,
                       .block_bytes = model.kv_shape().bytes_per_block(),
                       .fingerprint = model.fingerprint()};
  if (options.on_event) {
    disk.on_event = [tell = options.on_event](DiskEventSeverity, std::string_view text) { tell(std::string(text)); };
  }
  if (auto s = MoveTo(DiskTier::Open(disk), tiers.disk); !s.ok()) return s;
  tiers.records = std::make_unique<DiskNamedRecords>(*tiers.disk);
  return absl::OkStatus();
}

absl::Status OpenTiers(const EngineOptions& options, const EnginePlan& plan, const Transformer& model, Backend& backend,
                       Tiers& tiers) {
  const int64_t block_bytes = model.kv_shape().bytes_per_block();
  const int64_t host_blocks = HostBlocks(options, block_bytes);
  if (host_blocks == 0) return absl::OkStatus();
  tiers.device = std::make_unique<DeviceTier>(backend, block_bytes, plan.store.device_blocks);
  tiers.memory = NewAnonymousMemory();
  const HostTierOptions host{.capacity_blocks = host_blocks, .block_bytes = block_bytes};
  if (auto s = MoveTo(HostTier::Create(host, *tiers.memory), tiers.host); !s.ok()) return s;
  tiers.io = NewThreadExecutor(options.io_threads);
  return options.disk_cache_directory.empty() ? absl::OkStatus() : OpenDisk(options, model, tiers);
}

PrefixStoreTiers StoreTiers(const Tiers& tiers, const Transformer& model) {
  if (tiers.host == nullptr) return {};
  return {.device = tiers.device.get(),
          .host = tiers.host.get(),
          .disk = tiers.disk.get(),
          .io = tiers.io.get(),
          .fingerprint = model.fingerprint()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(std::unique_ptr<ModelSource> source,
                                                       const EngineOptions& options, const LoadProgress& progress) {
  const absl::StatusOr<EnginePlan> plan = Plan(options, *source);
  if (!plan.ok()) return plan.status();

  // The text layer before the weights: it is quick to find wrong.
  EngineParts parts;
  parts.config = source->config();
  parts.has_own_chat_template = !source->chat_template().empty();
  if (auto s = MoveTo(Tokenizer::Create(source->tokenizer()), parts.tokenizer); !s.ok()) return s;
  if (auto s = MoveTo(NewChatTemplate(*source, *parts.tokenizer), parts.chat_template); !s.ok()) return s;
  if (auto s = MoveTo(NewBackend(options), parts.backend); !s.ok()) return s;
  auto transformer = Transformer::Load(*source, *parts.backend, plan->transformer, progress);
  if (auto s = MoveTo(std::move(transformer), parts.transformer); !s.ok()) return s;

  if (auto s = OpenTiers(options, *plan, *parts.transformer, *parts.backend, parts.tiers); !s.ok()) return s;

  parts.scheduler =
      std::make_unique<SchedulerThread>(*parts.transformer, *parts.tokenizer, plan->store, plan->scheduler,
                                        SchedulerClocks(), StoreTiers(parts.tiers, *parts.transformer),
                                        PrefixRegistryOptions{.records = parts.tiers.records.get(),
                                                              .io = parts.tiers.io.get(),
                                                              .vocabulary = VocabularyDigest(*parts.tokenizer),
                                                              .on_event = options.on_event});
  return std::make_unique<LocalEngine>(std::move(parts));
}

}  // namespace headstart
