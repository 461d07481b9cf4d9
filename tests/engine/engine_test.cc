// The facade with real models: that a cached, shared, chunked or preempted answer is the same answer, to the bit, on
// each backend; and that options are refused in words.

#include "engine/engine.h"

#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/synth.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/testing/collected_answer.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using Answer = ::headstart::testing::CollectedAnswer;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<ModelSource>> SynthModel(const std::string& shape, DType dtype = DType::kBF16) {
  const SynthFormat format = dtype == DType::kQ8_0 ? SynthFormat::kGguf : SynthFormat::kHuggingFace;
  auto files = SynthModelFiles({.shape = shape, .format = format, .dtype = dtype});
  if (!files.ok()) return files.status();
  return OpenModel(*std::move(files), shape);
}

std::vector<TokenId> Tokens(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(TokenId{static_cast<int32_t>(random() % 256)});
  return tokens;
}

GenerationRequest Request(std::vector<TokenId> prompt, int64_t answer) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.sampling.top_logprobs = 5;
  request.max_tokens = answer;
  request.ignore_eos = true;
  return request;
}

std::shared_ptr<Answer> Ask(Engine& engine, GenerationRequest request) {
  auto answer = std::make_shared<Answer>();
  EXPECT_OK(engine.Submit(std::move(request), answer));
  return answer;
}

std::shared_ptr<Answer> Complete(Engine& engine, GenerationRequest request) {
  auto answer = Ask(engine, std::move(request));
  answer->done.wait();
  return answer;
}

void ExpectSame(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.logprobs, b.logprobs);
  EXPECT_EQ(a.text, b.text);
}

EngineOptions SmallOptions(const std::string& backend) {
  return {.backend = backend, .kv_cache_bytes = 16 << 20, .max_context_tokens = 0, .threads = 2};
}

class EngineTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Engine> Open(EngineOptions options, const std::string& shape = "tiny") {
    auto source = SynthModel(shape);
    EXPECT_OK(source);
    auto engine = Engine::Create(*std::move(source), options);
    EXPECT_OK(engine);
    return *std::move(engine);
  }
  std::unique_ptr<Engine> Open() { return Open(SmallOptions(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(Backends, EngineTest, ::testing::Values("cpu", "reference"),
                         [](const auto& param_info) { return param_info.param; });

TEST_P(EngineTest, AWarmAnswerIsTheColdAnswer) {
  const auto engine = Open();
  const GenerationRequest request = Request(Tokens(45, 1), 12);
  const auto cold = Complete(*engine, request);
  const auto warm = Complete(*engine, request);
  EXPECT_EQ(cold->usage.cached_tokens(), 0);
  EXPECT_EQ(warm->usage.cached_tokens(), 44);
  ExpectSame(*cold, *warm);
}

TEST_P(EngineTest, ADivergingPromptGetsItsOwnAnswerFromACopiedBlock) {
  const auto prompt = Tokens(45, 1);
  auto other = std::vector<TokenId>(prompt.begin(), prompt.begin() + 39);
  other.push_back(TokenId{(ToIndex(prompt[39]) + 1) % 256});
  const auto alone = Complete(*Open(), Request(other, 12));
  const auto engine = Open();
  Complete(*engine, Request(prompt, 12));
  const auto shared = Complete(*engine, Request(other, 12));
  EXPECT_EQ(shared->usage.cached_tokens(), 39);
  ExpectSame(*alone, *shared);
}

TEST_P(EngineTest, StepsBatchesAndPreemptionChangeNoBit) {
  std::vector<std::shared_ptr<Answer>> alone;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    alone.push_back(Complete(*Open(), Request(Tokens(20 + 7 * seed, seed % 2), 20)));
  }
  EngineOptions options = SmallOptions(GetParam());
  options.step_tokens = 7;
  options.kv_cache_bytes = 6 * Open()->kv_shape().bytes_per_block();
  const auto engine = Open(options);
  std::vector<std::shared_ptr<Answer>> together;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    together.push_back(Ask(*engine, Request(Tokens(20 + 7 * seed, seed % 2), 20)));
  }
  for (size_t i = 0; i < together.size(); ++i) {
    together[i]->done.wait();
    ExpectSame(*alone[i], *together[i]);
  }
  EXPECT_GT(engine->stats().preemptions, 0);
}

// Cached against uncached generation, by the weights' type: with Q8_0 the activations are quantized too, so any row
// that depended on its neighbours would show here.
class CachedGenerationTest : public ::testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(Weights, CachedGenerationTest, ::testing::Values(DType::kBF16, DType::kF32, DType::kQ8_0),
                         [](const auto& param_info) { return std::string(DTypeName(param_info.param)); });

TEST_P(CachedGenerationTest, FiftyPromptsGenerateTheSameSixtyFourTokens) {
  auto source = SynthModel("tiny", GetParam());
  ASSERT_OK(source);
  ASSERT_OK_AND_ASSIGN(const auto engine, Engine::Create(*std::move(source), SmallOptions("cpu")));
  for (uint64_t i = 0; i < 50; ++i) {
    SCOPED_TRACE(fmt::format("prompt {}", i));
    auto prompt = Tokens(40, i % 5);
    const auto tail = Tokens(1 + i, 1000 + i);
    prompt.insert(prompt.end(), tail.begin(), tail.end());
    GenerationRequest request = Request(prompt, 64);
    const auto partly_cached = Complete(*engine, request);
    const auto wholly_cached = Complete(*engine, request);
    request.read_cache = request.write_cache = false;
    const auto uncached = Complete(*engine, request);
    EXPECT_GE(partly_cached->usage.cached_tokens(), i < 5 ? 0 : 40);
    EXPECT_EQ(wholly_cached->usage.cached_tokens(), std::ssize(prompt) - 1);
    EXPECT_EQ(uncached->usage.cached_tokens(), 0);
    ExpectSame(*uncached, *partly_cached);
    ExpectSame(*uncached, *wholly_cached);
  }
}

TEST_P(EngineTest, DestructionEndsWhatRuns) {
  auto engine = Open();
  const auto answer = Ask(*engine, Request(Tokens(20, 1), 0));
  engine.reset();
  ASSERT_TRUE(answer->done.try_wait());
  EXPECT_THAT(answer->reason, ::testing::AnyOf(FinishReason::kShutdown, FinishReason::kLength));
}

TEST(EngineOptionsTest, AreRefusedInWords) {
  const auto model = SynthModel("tiny");
  ASSERT_OK(model);
  const int64_t block_bytes = Transformer::KvShapeOf((*model)->config(), {}).bytes_per_block();
  const std::map<std::string, EngineOptions> refused = {
      {"backend is \"gpu\"", {.backend = "gpu"}},
      {"block_tokens", {.block_tokens = 12}},
      {"kv_cache_bytes is 100", {.kv_cache_bytes = 100}},
      {"max_context_tokens is 1000000000", {.max_context_tokens = 1'000'000'000}},
      {"max_context_tokens = 100", {.kv_cache_bytes = 6 * block_bytes, .max_context_tokens = 100}},
      {"max_queue is 0", {.max_queue = 0}},
      {"max_running is -1", {.max_running = -1}},
      {"threads is -2", {.threads = -2}},
      {"step_tokens is 0", {.step_tokens = 0}},
  };
  for (const auto& [words, options] : refused) {
    auto source = SynthModel("tiny");
    ASSERT_OK(source);
    EXPECT_THAT(Engine::Create(*std::move(source), options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words)));
  }
}

TEST(EngineOptionsTest, TheContextIsTheModelsOrWhatThePoolHolds) {
  auto source = SynthModel("tiny");
  ASSERT_OK(source);
  const int models = (*source)->config().max_positions;
  ASSERT_OK_AND_ASSIGN(const auto large, Engine::Create(*std::move(source), SmallOptions("cpu")));
  EXPECT_EQ(large->max_context_tokens(), models);

  EngineOptions options = SmallOptions("cpu");
  options.kv_cache_bytes = 5 * large->kv_shape().bytes_per_block();
  source = SynthModel("tiny");
  ASSERT_OK_AND_ASSIGN(const auto small, Engine::Create(*std::move(source), options));
  EXPECT_EQ(small->max_context_tokens(), 80);
  const auto whole = Complete(*small, Request(Tokens(40, 1), 0));
  EXPECT_EQ(whole->ids.size(), 40u);
  EXPECT_EQ(whole->reason, FinishReason::kLength);
}

TEST(EngineTextTest, RendersWithTheModelsTemplateOrChatMl) {
  auto source = SynthModel("tiny");
  ASSERT_OK(source);
  const bool has_own = !(*source)->chat_template().empty();
  ASSERT_OK_AND_ASSIGN(const auto engine, Engine::Create(*std::move(source), SmallOptions("cpu")));
  EXPECT_EQ(engine->has_own_chat_template(), has_own);
  const auto messages = nlohmann::ordered_json::parse(R"([{"role": "user", "content": "Hi there"}])");
  ChatInput chat;
  chat.messages = &messages;
  const auto prompt = engine->chat_template().Render(chat);
  ASSERT_OK(prompt);
  EXPECT_THAT(prompt->text, HasSubstr("Hi there"));
}

// Ids of an independent program on a trained model.
TEST(EngineGoldenTest, Stories260KGreedy) {
  std::ifstream file("../shared/data/golden/stories260K_greedy.json");
  if (!file) GTEST_SKIP() << "../shared/data is not here";
  const auto golden = nlohmann::json::parse(file);
  for (const std::string backend : {"cpu", "reference"}) {
    auto source = OpenModel("../shared/data/models/stories260K.gguf");
    ASSERT_OK(source);
    EngineOptions options = SmallOptions(backend);
    options.kv_dtype = DType::kF32;
    ASSERT_OK_AND_ASSIGN(const auto engine, Engine::Create(*std::move(source), options));
    for (const auto& one : golden["cases"]) {
      std::vector<TokenId> prompt;
      for (const int id : one["prompt_ids"]) prompt.push_back(TokenId{id});
      std::vector<TokenId> ids;
      for (const int id : one["ids"]) ids.push_back(TokenId{id});
      for (int round = 0; round < 2; ++round) {
        const auto answer = Complete(*engine, Request(prompt, static_cast<int64_t>(ids.size())));
        EXPECT_EQ(answer->ids, ids) << backend << " round " << round;
        EXPECT_EQ(answer->text, one["text"].get<std::string>());
      }
    }
  }
}

}  // namespace
}  // namespace headstart
