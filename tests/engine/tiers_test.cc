// The whole engine over all tiers: wherever a prefix came back from, the answer is the one that a cold engine gives, to
// the bit; and the usage says where it came from.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/model/synth.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/collected_answer.h"
#include "tests/testing/status.h"

namespace headstart::testing {
namespace {

namespace fs = std::filesystem;

using Answer = CollectedAnswer;

std::vector<TokenId> Tokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(TokenId{static_cast<int32_t>(random() % 256)});
  return tokens;
}

std::shared_ptr<Answer> Ask(Engine& engine, std::vector<TokenId> prompt, int64_t answer = 8) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.sampling.top_logprobs = 0;
  request.max_tokens = answer;
  request.ignore_eos = true;
  auto sink = std::make_shared<Answer>();
  EXPECT_OK(engine.Submit(std::move(request), sink));
  return sink;
}

std::shared_ptr<Answer> Complete(Engine& engine, std::vector<TokenId> prompt, int64_t answer = 8) {
  auto sink = Ask(engine, std::move(prompt), answer);
  sink->done.wait();
  return sink;
}

struct TiersCase {
  std::string backend;
  DType weights;
  DType kv;
};

class EngineTiers : public ::testing::TestWithParam<TiersCase> {
 protected:
  static constexpr int64_t kPromptTokens = 100;  // seven blocks, the last not whole

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "headstart-tiers-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    cold_ = Open({.device_blocks = 64});
  }
  void TearDown() override { fs::remove_all(directory_); }

  struct Sizes {
    int64_t device_blocks = 12;
    int64_t host_blocks = 0;
    bool disk = false;
  };

  std::unique_ptr<Engine> Open(const Sizes& sizes, uint64_t weights_seed = 1) {
    const SynthFormat format = GetParam().weights == DType::kQ8_0 ? SynthFormat::kGguf : SynthFormat::kHuggingFace;
    auto files =
        SynthModelFiles({.shape = "tiny", .seed = weights_seed, .format = format, .dtype = GetParam().weights});
    EXPECT_OK(files);
    auto source = OpenModel(*std::move(files), "tiny");
    EXPECT_OK(source);
    EngineOptions options{.backend = GetParam().backend, .kv_dtype = GetParam().kv, .threads = 2};
    const TransformerOptions kv{.kv_dtype = options.kv_dtype, .block_tokens = options.block_tokens};
    const int64_t block_bytes = Transformer::KvShapeOf((*source)->config(), kv).bytes_per_block();
    options.kv_cache_bytes = sizes.device_blocks * block_bytes;
    options.host_cache_bytes = sizes.host_blocks * block_bytes;
    if (sizes.disk) {
      options.disk_cache_directory = directory_ / "cache";
      options.disk_cache_bytes = 64 << 20;
    }
    auto engine = Engine::Create(*std::move(source), options);
    EXPECT_OK(engine);
    return *std::move(engine);
  }

  // Fills the device with prompts that nothing shares.
  void Thrash(Engine& engine, int prompts) {
    for (int i = 0; i < prompts; ++i) Complete(engine, Tokens(90, 1000 + thrashed_++), 1);
  }

  void ExpectColdAnswer(const Answer& answer, const std::vector<TokenId>& prompt) {
    const auto cold = Complete(*cold_, prompt);
    EXPECT_EQ(answer.ids, cold->ids);
    EXPECT_EQ(answer.logprobs, cold->logprobs);
    EXPECT_EQ(answer.reason, cold->reason);
    EXPECT_EQ(answer.usage.prompt_tokens, answer.usage.cached_tokens() + answer.usage.computed_prompt_tokens);
  }

  fs::path directory_;
  std::unique_ptr<Engine> cold_;
  uint64_t thrashed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Kinds, EngineTiers,
                         ::testing::Values(TiersCase{"cpu", DType::kBF16, DType::kBF16},
                                           TiersCase{"cpu", DType::kF32, DType::kF32},
                                           TiersCase{"cpu", DType::kQ8_0, DType::kBF16},
                                           TiersCase{"reference", DType::kBF16, DType::kBF16}),
                         [](const auto& kind) {
                           return fmt::format("{}_{}_{}", kind.param.backend, static_cast<int>(kind.param.weights),
                                              static_cast<int>(kind.param.kv));
                         });

TEST_P(EngineTiers, FromTheDevice) {
  const auto engine = Open({.device_blocks = 64, .host_blocks = 64});
  const auto prompt = Tokens(kPromptTokens, 1);
  ExpectColdAnswer(*Complete(*engine, prompt), prompt);
  const auto warm = Complete(*engine, prompt);
  ExpectColdAnswer(*warm, prompt);
  EXPECT_EQ(warm->usage.cached_device_tokens, kPromptTokens - 1);
}

TEST_P(EngineTiers, FromHostMemory) {
  const auto engine = Open({.host_blocks = 200});
  const auto prompt = Tokens(kPromptTokens, 1);
  Complete(*engine, prompt);
  Thrash(*engine, 4);
  const auto warm = Complete(*engine, prompt);
  ExpectColdAnswer(*warm, prompt);
  EXPECT_GT(warm->usage.cached_host_tokens, 0);
  EXPECT_EQ(warm->usage.cached_tokens(), kPromptTokens - 1);
}

TEST_P(EngineTiers, FromDiskAndAfterARestart) {
  const auto prompt = Tokens(kPromptTokens, 1);
  {
    const auto engine = Open({.disk = true});
    Complete(*engine, prompt);
    Thrash(*engine, 30);
    const auto warm = Complete(*engine, prompt);
    ExpectColdAnswer(*warm, prompt);
    EXPECT_GT(warm->usage.cached_disk_tokens, 0);
  }
  const auto engine = Open({.disk = true});
  const auto warm = Complete(*engine, prompt);
  ExpectColdAnswer(*warm, prompt);
  EXPECT_EQ(warm->usage.cached_disk_tokens, kPromptTokens - 1);
  EXPECT_EQ(warm->usage.cached_tokens(), kPromptTokens - 1);
}

TEST_P(EngineTiers, MixedWithinOnePrompt) {
  const auto engine = Open({.device_blocks = 10, .host_blocks = 3, .disk = true});
  const auto prompt = Tokens(kPromptTokens, 1);
  Complete(*engine, prompt);
  for (int i = 0; i < 12; ++i) {
    Complete(*engine, Tokens(16 + 16 * (i % 5), 5000 + i), 1);
    auto branch = prompt;
    branch.resize(20 + 7 * i);
    branch.push_back(TokenId{i});
    ExpectColdAnswer(*Complete(*engine, branch), branch);
    if (i % 3 == 0) ExpectColdAnswer(*Complete(*engine, prompt), prompt);
  }
}

// C4 and P3: all at once on one spilled prefix.
TEST_P(EngineTiers, ManyAtOnceOnASpilledPrefix) {
  const auto engine = Open({.device_blocks = 40, .host_blocks = 200});
  const auto shared = Tokens(kPromptTokens, 1);
  Complete(*engine, shared);
  Thrash(*engine, 12);
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 12; ++i) {
    prompts.push_back(shared);
    prompts.back().push_back(TokenId{i});
    answers.push_back(Ask(*engine, prompts.back()));
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    answers[i]->done.wait();
    ExpectColdAnswer(*answers[i], prompts[i]);
    EXPECT_GE(answers[i]->usage.cached_tokens(), 96);
  }
  EXPECT_EQ(engine->stats().store.host_loaded_blocks, 7) << "each block once";
}

// E10 with tiers: the preempted one comes back by hits, and both answers are the uncontended ones.
TEST_P(EngineTiers, PreemptionUnderPressure) {
  const auto engine = Open({.device_blocks = 16, .host_blocks = 40, .disk = true});
  std::vector<std::shared_ptr<Answer>> answers;
  for (int i = 0; i < 3; ++i) answers.push_back(Ask(*engine, Tokens(90, i), 60));
  for (int i = 0; i < 3; ++i) {
    answers[i]->done.wait();
    const auto cold = Complete(*cold_, Tokens(90, i), 60);
    EXPECT_EQ(answers[i]->ids, cold->ids);
    EXPECT_EQ(answers[i]->logprobs, cold->logprobs);
  }
}

// P5, T5: equal shape, other weights, one directory.
TEST_P(EngineTiers, OtherWeightsFindNothing) {
  const auto prompt = Tokens(kPromptTokens, 1);
  { Complete(*Open({.disk = true}, /*weights_seed=*/1), prompt); }
  {
    const auto other = Open({.disk = true}, /*weights_seed=*/2);
    EXPECT_EQ(Complete(*other, prompt)->usage.cached_tokens(), 0);
  }
}

// Waits for what an engine calls back.
template <typename T>
class Called {
 public:
  void operator()(T value) {
    value_ = std::move(value);
    done_.count_down();
  }
  T& Get() {
    done_.wait();
    return value_;
  }

 private:
  T value_{};
  std::latch done_{1};
};

// Pins may hold 10 of the 20 blocks. What two prefixes share counts once.
TEST_P(EngineTiers, APrefixWithoutRoomIsRefusedBeforeItIsComputed) {
  const auto engine = Open({.device_blocks = 20});
  const auto create = [&](const std::string& id, std::vector<TokenId> tokens, const std::string& tenant) {
    Called<std::pair<absl::Status, int64_t>> created;
    engine->CreatePrefix({.id = id,
                          .scope = Scope::Tenant(tenant),
                          .tokens = std::move(tokens),
                          .display_name = "",
                          .expires = absl::InfiniteFuture()},
                         [&](const absl::StatusOr<CachedPrefix>& made, const PrefixWork& work) {
                           created({made.status(), work.usage.prompt_tokens});
                         });
    return created.Get();
  };
  const auto longer = Tokens(160, 9);
  const std::vector<TokenId> shorter(longer.begin(), longer.begin() + 64);
  EXPECT_OK(create("shorter", shorter, "a").first);
  EXPECT_OK(create("longer", longer, "a").first);
  EXPECT_OK(create("the same again", longer, "a").first);
  EXPECT_OK(create("ends inside a block", {longer.begin(), longer.begin() + 150}, "a").first);
  for (const auto& [tokens, tenant] : {std::pair(Tokens(1, 10), "a"), std::pair(shorter, "b")}) {
    const auto [status, computed] = create("one more", tokens, tenant);
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("pins hold 10 of at most 10")));
    EXPECT_EQ(computed, 0);
  }
}

// All at once, so that none is registered yet when the last is asked for: what is refused has cost nothing.
TEST_P(EngineTiers, PrefixesAskedForAtOnceArePromisedTheirRoom) {
  const auto engine = Open({.device_blocks = 20});
  constexpr int kAsked = 6;
  std::vector<std::unique_ptr<Called<std::pair<absl::Status, int64_t>>>> made;
  for (int i = 0; i < kAsked; ++i) {
    made.push_back(std::make_unique<Called<std::pair<absl::Status, int64_t>>>());
    engine->CreatePrefix({.id = i < kAsked - 1 ? "prefix " + std::to_string(i) : "prefix 0",
                          .scope = Scope::Tenant("a"),
                          .tokens = Tokens(64, 20 + i),
                          .display_name = "",
                          .expires = absl::InfiniteFuture()},
                         [&called = *made.back()](const absl::StatusOr<CachedPrefix>& prefix, const PrefixWork& work) {
                           called({prefix.status(), work.usage.prompt_tokens});
                         });
  }
  int registered = 0;
  for (const auto& called : made) {
    const auto& [status, computed] = called->Get();
    registered += status.ok() ? 1 : 0;
    EXPECT_EQ(computed, status.ok() ? 64 : 0) << status;
  }
  EXPECT_EQ(registered, 2) << "pins may hold 10 of the 20 blocks";
}

TEST_P(EngineTiers, ARegisteredPrefixIsComputedPinnedAndOutlivesARestart) {
  const auto prefix = Tokens(64, 9);
  auto prompt = prefix;
  prompt.push_back(TokenId{1});
  {
    const auto engine = Open({.device_blocks = 20, .host_blocks = 20, .disk = true});
    Called<absl::Status> created;
    engine->CreatePrefix({.id = "system",
                          .scope = Scope::Public(),
                          .tokens = prefix,
                          .display_name = "",
                          .expires = absl::InfiniteFuture()},
                         [&](const absl::StatusOr<CachedPrefix>& made, const PrefixWork& work) {
                           EXPECT_EQ(work.usage.computed_prompt_tokens, 64);
                           EXPECT_GT(work.timings.prefill, absl::ZeroDuration());
                           EXPECT_EQ(work.timings.ttft, work.timings.queue + work.timings.prefill);
                           if (made.ok()) {
                             EXPECT_EQ(made->pinned_tokens, 64);
                           }
                           created(made.status());
                         });
    EXPECT_OK(created.Get());
    Thrash(*engine, 20);
    const auto warm = Complete(*engine, prompt);
    ExpectColdAnswer(*warm, prompt);
    EXPECT_EQ(warm->usage.cached_device_tokens, 64) << "pinned blocks stay";
  }
  const auto engine = Open({.device_blocks = 20, .host_blocks = 20, .disk = true});
  Called<std::vector<CachedPrefix>> listed;
  engine->ListPrefixes(Scope::Tenant("a"), [&](std::vector<CachedPrefix> prefixes) { listed(std::move(prefixes)); });
  ASSERT_EQ(listed.Get().size(), 1);
  EXPECT_EQ(listed.Get()[0].by_tier.sum(), 64);
  Called<std::vector<CachedPrefix>> all;
  engine->ListAllPrefixes([&](std::vector<CachedPrefix> prefixes) { all(std::move(prefixes)); });
  ASSERT_EQ(all.Get().size(), 1);
  EXPECT_EQ(all.Get()[0].scope, listed.Get()[0].scope);

  Called<FlushReport> flushed;
  engine->Flush([&](const absl::StatusOr<FlushReport>& report) { flushed(report.value()); });
  EXPECT_EQ(flushed.Get().prefixes, 1);
  EXPECT_GE(flushed.Get().blocks, 4);
  EXPECT_EQ(Complete(*engine, prompt)->usage.cached_tokens(), 0);
}

// D9 without encryption: an acknowledged purge is one that a restart does not undo.
TEST_P(EngineTiers, APurgedTenantIsGoneFromEveryTier) {
  const auto prompt = Tokens(kPromptTokens, 4);
  const auto ask_as = [&](Engine& engine, const std::string& tenant) {
    GenerationRequest request;
    request.scope = Scope::Tenant(tenant);
    request.prompt = prompt;
    request.sampling.temperature = 0;
    request.max_tokens = 2;
    request.ignore_eos = true;
    auto sink = std::make_shared<Answer>();
    EXPECT_OK(engine.Submit(std::move(request), sink));
    sink->done.wait();
    return sink->usage.cached_tokens();
  };
  {
    const auto engine = Open({.disk = true});
    ask_as(*engine, "a");
    ask_as(*engine, "b");
    Thrash(*engine, 20);
    Called<absl::Status> purged;
    engine->PurgeTenant("a", [&](const absl::StatusOr<FlushReport>& report) {
      if (report.ok()) {
        EXPECT_GT(report->blocks, 0);
      }
      purged(report.status());
    });
    EXPECT_OK(purged.Get());
  }
  const auto engine = Open({.disk = true});
  EXPECT_EQ(ask_as(*engine, "a"), 0);
  EXPECT_EQ(ask_as(*engine, "b"), kPromptTokens - 1);
}

TEST_P(EngineTiers, AFlushedCacheStaysEmptyAfterARestart) {
  const auto prompt = Tokens(kPromptTokens, 4);
  {
    const auto engine = Open({.disk = true});
    Complete(*engine, prompt);
    Thrash(*engine, 20);
    Called<absl::Status> flushed;
    engine->Flush([&](const absl::StatusOr<FlushReport>& report) { flushed(report.status()); });
    EXPECT_OK(flushed.Get());
  }
  EXPECT_EQ(Complete(*Open({.disk = true}), prompt)->usage.cached_tokens(), 0);
}

// P6, D2: whatever file is hurt, and wherever.
class DamagedDirectory : public EngineTiers {
 protected:
  // More of them on request: a few seconds' worth is for every day.
  static int Rounds() {
    const char* rounds = std::getenv("HEADSTART_DAMAGE_ROUNDS");
    return rounds == nullptr ? 25 : std::atoi(rounds);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedDirectory, ::testing::Values(TiersCase{"cpu", DType::kBF16, DType::kBF16}));

TEST_P(DamagedDirectory, IsAShorterHit) {
  const auto prompt = Tokens(kPromptTokens, 1);
  std::mt19937 random(3);
  for (int round = 0; round < Rounds(); ++round) {
    fs::remove_all(directory_ / "cache");
    { Complete(*Open({.disk = true}), prompt); }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "cache")) {
      if (entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
    }
    const fs::path victim = files[random() % files.size()];
    const auto size = fs::file_size(victim);
    std::fstream file(victim, std::ios::in | std::ios::out | std::ios::binary);
    const auto at = static_cast<std::streamoff>(random() % size);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ (1 << (random() % 8)));
    file.seekp(at);
    file.put(byte);
    file.close();
    SCOPED_TRACE(victim.filename().string());
    const auto engine = Open({.disk = true});
    ExpectColdAnswer(*Complete(*engine, prompt), prompt);
  }
}

}  // namespace
}  // namespace headstart::testing
