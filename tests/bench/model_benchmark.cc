// Times a model file on this machine, as JSON lines: prefill and decode of the forward pass alone, and time to first
// token through the whole engine, cold and warm. compare.py runs it beside a peer and prints the table of
// docs/benchmarks.md.
//
//   model_benchmark --model qwen3-0.6b.gguf --threads 2 --prefill 512 --prefill 2048 --depth 0 --depth 4096 --ttft 2048

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/engine.h"
#include "engine/model/model_source.h"
#include "engine/transformer/transformer.h"
#include "fmt/format.h"

namespace headstart {
namespace {

struct Flags {
  std::string model;
  int threads = 2;
  int step_tokens = 256;
  int decode_tokens = 32;
  int suffix_tokens = 32;
  int repeat = 3;
  std::vector<int> prefill;
  std::vector<int> depth;
  std::vector<int> ttft;
  std::vector<int> unique;
};

// Token ids without structure: what is timed does not depend on them.
std::vector<TokenId> RandomTokens(int count, int vocab_size, uint64_t seed) {
  std::vector<TokenId> tokens(count);
  uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (TokenId& token : tokens) {
    state = state * 6364136223846793005 + 1442695040888963407;
    token = TokenId{static_cast<int32_t>((state >> 33) % vocab_size)};
  }
  return tokens;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double TimeSeconds(const std::function<void()>& work) {
  const absl::Time start = absl::Now();
  work();
  return absl::ToDoubleSeconds(absl::Now() - start);
}

// One sequence whose pages lie in order from slot 0.
class SingleSequence {
 public:
  explicit SingleSequence(Transformer& model) : model_(model) {
    slots_.resize((model.limits().max_positions + model.limits().block_tokens - 1) / model.limits().block_tokens);
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i] = SlotIndex{static_cast<uint32_t>(i)};
  }

  // Computes tokens at positions [start, start + size), in steps, with the last row's logits.
  void Compute(std::span<const TokenId> tokens, int start) {
    const int step = model_.limits().max_step_tokens;
    for (int done = 0; done < static_cast<int>(tokens.size()); done += step) {
      Step(tokens.subspan(done, std::min<size_t>(step, tokens.size() - done)), start + done);
    }
  }

 private:
  void Step(std::span<const TokenId> tokens, int start) {
    const int count = static_cast<int>(tokens.size());
    positions_.resize(count);
    std::iota(positions_.begin(), positions_.end(), start);
    const int32_t sequence_starts[] = {0, count};
    const int32_t context_lengths[] = {start + count};
    const int32_t table_starts[] = {0, static_cast<int32_t>(slots_.size())};
    const int32_t logit_rows[] = {count - 1};
    model_.Forward({.tokens = tokens,
                    .positions = positions_,
                    .sequence_starts = sequence_starts,
                    .context_lengths = context_lengths,
                    .block_tables = slots_,
                    .block_table_starts = table_starts,
                    .logit_rows = logit_rows});
    model_.Logits(0);
  }

  Transformer& model_;
  std::vector<SlotIndex> slots_;
  std::vector<int32_t> positions_;
};

int LongestContext(const Flags& flags) {
  int longest = 1;
  for (const int tokens : flags.prefill) longest = std::max(longest, tokens);
  for (const int tokens : flags.depth) longest = std::max(longest, tokens + flags.decode_tokens);
  for (const int tokens : flags.ttft) longest = std::max(longest, tokens + flags.suffix_tokens);
  return longest;
}

void PrintRate(const char* what, int tokens, int count, std::vector<double> seconds) {
  const double median = Median(std::move(seconds));
  fmt::print("{{\"what\": \"{}\", \"tokens\": {}, \"tokens_per_s\": {:.2f}}}\n", what, tokens, count / median);
  std::fflush(stdout);
}

void PrintTtft(const char* what, int tokens, int64_t cached, std::vector<double> milliseconds) {
  fmt::print("{{\"what\": \"{}\", \"tokens\": {}, \"cached\": {}, \"ms\": {:.2f}}}\n", what, tokens, cached,
             Median(std::move(milliseconds)));
  std::fflush(stdout);
}

// What a warm first token is held against: the suffix alone, on KV that never left the sequence.
void TimeResident(SingleSequence& sequence, const Flags& flags, int shared, int vocab) {
  sequence.Compute(RandomTokens(shared, vocab, 3), 0);
  std::vector<double> milliseconds;
  for (int i = 0; i < flags.repeat; ++i) {
    const auto suffix = RandomTokens(flags.suffix_tokens, vocab, 1000 + i);
    milliseconds.push_back(1000 * TimeSeconds([&] { sequence.Compute(suffix, shared); }));
  }
  PrintTtft("ttft_resident", shared + flags.suffix_tokens, shared, std::move(milliseconds));
}

absl::Status TimeForwardPass(const Flags& flags) {
  auto source = OpenModel(flags.model);
  if (!source.ok()) return source.status();
  auto backend = NewCpuBackend({.threads = flags.threads});
  if (!backend.ok()) return backend.status();
  constexpr int kBlockTokens = 16;
  auto model = Transformer::Load(**source, **backend,
                                 {.block_tokens = kBlockTokens,
                                  .slots = (LongestContext(flags) + kBlockTokens) / kBlockTokens,
                                  .max_step_tokens = flags.step_tokens});
  if (!model.ok()) return model.status();
  SingleSequence sequence(**model);
  const int vocab = (*model)->limits().vocab_size;
  sequence.Compute(RandomTokens(flags.step_tokens, vocab, 1), 0);  // warms caches and the thread pool
  for (const int tokens : flags.prefill) {
    std::vector<double> seconds;
    for (int i = 0; i < flags.repeat; ++i) {
      const auto prompt = RandomTokens(tokens, vocab, i);
      seconds.push_back(TimeSeconds([&] { sequence.Compute(prompt, 0); }));
    }
    PrintRate("prefill", tokens, tokens, std::move(seconds));
  }
  for (const int depth : flags.depth) {
    sequence.Compute(RandomTokens(depth, vocab, 2), 0);
    std::vector<double> seconds;
    for (int i = 0; i < flags.repeat; ++i) {
      const auto tokens = RandomTokens(flags.decode_tokens, vocab, i);
      seconds.push_back(TimeSeconds([&] {
        for (int t = 0; t < flags.decode_tokens; ++t) {
          sequence.Compute(std::span(tokens).subspan(t, 1), depth + t);
        }
      }));
    }
    PrintRate("decode", depth, flags.decode_tokens, std::move(seconds));
  }
  for (const int shared : flags.ttft) TimeResident(sequence, flags, shared, vocab);
  return absl::OkStatus();
}

class WaitForFinish : public GenerationSink {
 public:
  void OnStarted(const GenerationUsage&) override {}
  void OnDelta(GenerationDelta) override {}
  void OnFinished(FinishReason, const GenerationUsage& usage, const GenerationTimings& timings) override {
    const std::lock_guard lock(mutex_);
    usage_ = usage;
    timings_ = timings;
    done_ = true;
    finished_.notify_one();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_; });
  }
  const GenerationUsage& usage() const { return usage_; }
  const GenerationTimings& timings() const { return timings_; }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  GenerationUsage usage_;
  GenerationTimings timings_;
};

absl::StatusOr<std::shared_ptr<WaitForFinish>> Answer(Engine& engine, std::vector<TokenId> prompt,
                                                      bool uses_cache = true) {
  auto sink = std::make_shared<WaitForFinish>();
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = 2;
  request.ignore_eos = true;
  request.sampling.temperature = 0;
  request.read_cache = request.write_cache = uses_cache;
  if (auto id = engine.Submit(std::move(request), sink); !id.ok()) return id.status();
  sink->Wait();
  return sink;
}

// A prompt of `shared` + suffix tokens never seen; then the same beginning with other suffixes.
absl::Status TimeFirstToken(Engine& engine, const Flags& flags, int shared) {
  const int vocab = engine.config().vocab_size;
  std::vector<double> cold, warm;
  int64_t cached = 0;
  for (int i = 0; i < flags.repeat; ++i) {
    const auto prefix = RandomTokens(shared, vocab, 100 + i);
    for (const bool is_warm : {false, true}) {
      auto prompt = prefix;
      const auto suffix = RandomTokens(flags.suffix_tokens, vocab, 1000 + 2 * i + is_warm);
      prompt.insert(prompt.end(), suffix.begin(), suffix.end());
      auto answer = Answer(engine, std::move(prompt));
      if (!answer.ok()) return answer.status();
      (is_warm ? warm : cold).push_back(absl::ToDoubleMilliseconds((*answer)->timings().ttft));
      if (is_warm) cached = (*answer)->usage().cached_tokens();
    }
  }
  PrintTtft("ttft_cold", shared + flags.suffix_tokens, 0, std::move(cold));
  PrintTtft("ttft_warm", shared + flags.suffix_tokens, cached, std::move(warm));
  return absl::OkStatus();
}

constexpr int kUniquePrompts = 4;  // timed together

absl::StatusOr<double> TimeUniquePrompts(Engine& engine, int tokens, bool uses_cache, uint64_t& seed) {
  absl::Status status;
  const double seconds = TimeSeconds([&] {
    for (int i = 0; i < kUniquePrompts; ++i) {
      status.Update(Answer(engine, RandomTokens(tokens, engine.config().vocab_size, ++seed), uses_cache).status());
    }
  });
  if (!status.ok()) return status;
  return seconds;
}

// What caching costs prompts that nothing is shared with: the same work with and without it, in turns, when the cache
// is full and each prompt evicts another one's blocks.
absl::Status TimeUnique(Engine& engine, const Flags& flags, int tokens) {
  uint64_t seed = 5000;
  for (int64_t used = 0; used < engine.stats().store.pool_blocks * 16; used += kUniquePrompts * tokens) {
    if (auto filled = TimeUniquePrompts(engine, tokens, true, seed); !filled.ok()) return filled.status();
  }
  std::vector<double> cached, uncached;
  for (int i = 0; i < flags.repeat; ++i) {
    for (const bool uses_cache : {i % 2 == 0, i % 2 != 0}) {
      const auto seconds = TimeUniquePrompts(engine, tokens, uses_cache, seed);
      if (!seconds.ok()) return seconds.status();
      (uses_cache ? cached : uncached).push_back(*seconds);
    }
  }
  PrintRate("unique_cached", tokens, kUniquePrompts * tokens, std::move(cached));
  PrintRate("unique_uncached", tokens, kUniquePrompts * tokens, std::move(uncached));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Engine>> OpenEngine(const Flags& flags, int64_t kv_cache_bytes) {
  auto source = OpenModel(flags.model);
  if (!source.ok()) return source.status();
  return Engine::Create(std::move(*source),
                        {.kv_cache_bytes = kv_cache_bytes, .threads = flags.threads, .step_tokens = flags.step_tokens});
}

absl::Status TimeEngine(const Flags& flags) {
  if (!flags.ttft.empty()) {
    auto engine = OpenEngine(flags, int64_t{4} << 30);
    if (!engine.ok()) return engine.status();
    for (const int shared : flags.ttft) {
      if (auto status = TimeFirstToken(**engine, flags, shared); !status.ok()) return status;
    }
  }
  if (flags.unique.empty()) return absl::OkStatus();
  auto engine = OpenEngine(flags, int64_t{256} << 20);
  if (!engine.ok()) return engine.status();
  for (const int tokens : flags.unique) {
    if (auto status = TimeUnique(**engine, flags, tokens); !status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Times a model file on this machine; prints JSON lines.");
  app.add_option("--model", flags.model, "Hugging Face folder or GGUF file")->required();
  app.add_option("--threads", flags.threads);
  app.add_option("--step-tokens", flags.step_tokens);
  app.add_option("--repeat", flags.repeat, "runs of each figure; the median is printed");
  app.add_option("--prefill", flags.prefill, "prompt lengths");
  app.add_option("--depth", flags.depth, "contexts to decode after");
  app.add_option("--ttft", flags.ttft, "shared prefixes for cold and warm time to first token");
  app.add_option("--unique", flags.unique, "lengths of prompts that share nothing, with and without caching");
  CLI11_PARSE(app, argc, argv);
  absl::Status status = absl::OkStatus();
  if (!flags.prefill.empty() || !flags.depth.empty() || !flags.ttft.empty()) status = TimeForwardPass(flags);
  if (status.ok()) status = TimeEngine(flags);
  if (!status.ok()) fmt::print(stderr, "model_benchmark: {}\n", std::string(status.message()));
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace headstart

int main(int argc, char** argv) { return headstart::Main(argc, argv); }
