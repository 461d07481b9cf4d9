#include "engine/transformer/transformer.h"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/reference/reference_backend.h"
#include "fmt/format.h"
#include "tests/testing/random_model_source.h"
#include "tests/testing/status.h"
#include "tests/testing/tiny_model.h"

// AddressSanitizer aborts on requests that no machine can serve; here they are to fail as they do without it.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }  // NOLINT

namespace headstart {
namespace {

using ::headstart::testing::BatchBuilder;
using ::headstart::testing::LogitRows;
using ::headstart::testing::LogitsOf;
using ::headstart::testing::RandomModelSource;
using ::headstart::testing::RandomTokens;
using ::headstart::testing::ReadLogits;
using ::headstart::testing::StatusIs;
using ::headstart::testing::TinyConfig;
using ::headstart::testing::TinyModel;
using ::testing::AllOf;
using ::testing::HasSubstr;

ModelConfig ConfigWithEverything() {
  ModelConfig config = TinyConfig();
  config.qk_norm = true;
  config.attention_bias = true;
  return config;
}

absl::StatusOr<TinyModel> LoadTiny(const ModelConfig& config, const TransformerOptions& options = TinyModel::kOptions) {
  return TinyModel::Load(std::make_unique<RandomModelSource>(config, 1), NewReferenceBackend(), options);
}

absl::Status LoadStatus(const ModelSource& source, const TransformerOptions& options = TinyModel::kOptions) {
  const std::unique_ptr<Backend> backend = NewReferenceBackend();
  return Transformer::Load(source, *backend, options).status();
}

// Logits of the last token alone, each changed input at a time.
std::vector<float> LastRow(const ModelSource& source, const std::vector<TokenId>& tokens) {
  const std::unique_ptr<Backend> backend = NewReferenceBackend();
  const std::unique_ptr<Transformer> model = *Transformer::Load(source, *backend, TinyModel::kOptions);
  BatchBuilder builder;
  const std::vector<SlotIndex> slots = {SlotIndex{0}, SlotIndex{1}};
  builder.Add({.tokens = tokens, .count = static_cast<int>(tokens.size()), .slots = slots});
  model->Forward(builder.batch());
  return ReadLogits(*model, builder.batch()).at(0);
}

TEST(Transformer, KvShapeIsTheArithmeticThatUsersCheck) {
  ModelConfig qwen3_8b;
  qwen3_8b.layers = 36;
  qwen3_8b.kv_heads = 8;
  qwen3_8b.head_dim = 128;
  const KvShape shape = Transformer::KvShapeOf(qwen3_8b, {.kv_dtype = DType::kBF16, .block_tokens = 16});
  EXPECT_EQ(shape.bytes_per_token(), 147456);
  EXPECT_EQ(shape.bytes_per_block(), 147456 * 16);
  EXPECT_EQ(Transformer::KvShapeOf(qwen3_8b, {.kv_dtype = DType::kF32}).bytes_per_token(), 2 * 147456);
}

TEST(Transformer, LimitsAreTheModelsAndTheOptions) {
  ASSERT_OK_AND_ASSIGN(
      TinyModel model,
      LoadTiny(TinyConfig(), {.block_tokens = 8, .slots = 3, .max_step_tokens = 5, .max_logit_rows = 2}));
  const RunnerLimits& limits = model.transformer().limits();
  EXPECT_EQ(limits.vocab_size, 97);
  EXPECT_EQ(limits.max_positions, 256);
  EXPECT_EQ(limits.max_step_tokens, 5);
  EXPECT_EQ(limits.max_logit_rows, 2);
  EXPECT_EQ(limits.block_tokens, 8);
}

// Every weight the architecture has takes part: without one of them in use, changing it would change nothing.
TEST(Transformer, EveryWeightTakesPart) {
  using enum WeightRole;
  const std::vector<TokenId> tokens = RandomTokens(20, 97, 1);
  const std::vector<float> before = LastRow(RandomModelSource(ConfigWithEverything(), 1), tokens);
  std::vector<WeightName> names = {{kOutputNorm}, {kOutput}};
  for (int layer : {0, 1}) {
    for (WeightRole role : {kAttentionNorm, kQuery, kKey, kValue, kAttentionOutput, kQueryBias, kKeyBias, kValueBias,
                            kQueryNorm, kKeyNorm, kMlpNorm, kGate, kUp, kDown}) {
      names.push_back({role, layer});
    }
  }
  for (const WeightName& name : names) {
    RandomModelSource source(ConfigWithEverything(), 1);
    source.Weight(name, 3) += 0.5f;
    EXPECT_NE(LastRow(source, tokens), before) << "role " << static_cast<int>(name.role) << " layer " << name.layer;
  }
  RandomModelSource source(ConfigWithEverything(), 1);
  source.Weight({kEmbedding}, static_cast<size_t>(ToIndex(tokens[0])) * 32) += 0.5f;
  EXPECT_NE(LastRow(source, tokens), before) << "embedding of the first token";
}

TEST(Transformer, ATiedModelUsesTheEmbeddingAsOutput) {
  ModelConfig tied = TinyConfig();
  tied.tied_embeddings = true;
  const std::vector<TokenId> tokens = RandomTokens(5, 97, 1);
  RandomModelSource source(tied, 1);
  const std::vector<float> before = LastRow(source, tokens);
  ASSERT_NE(ToIndex(tokens[0]), 90);
  source.Weight({WeightRole::kEmbedding}, 90 * 32) += 1;  // of no token in the prompt
  const std::vector<float> after = LastRow(source, tokens);
  for (size_t id = 0; id < before.size(); ++id) EXPECT_EQ(before[id] == after[id], id != 90) << "id " << id;
}

TEST(Transformer, ASlidingWindowHidesWhatLiesBeforeIt) {
  ModelConfig config = TinyConfig();
  config.layers = 1;  // with more, what lies before reaches on through the layers
  config.sliding_window = 4;
  std::vector<TokenId> tokens = RandomTokens(10, 97, 1);
  const std::vector<float> before = LastRow(RandomModelSource(config, 1), tokens);
  for (int position = 0; position < 10; ++position) {
    std::vector<TokenId> changed = tokens;
    changed[static_cast<size_t>(position)] = TokenId{(ToIndex(tokens[static_cast<size_t>(position)]) + 1) % 97};
    EXPECT_EQ(LastRow(RandomModelSource(config, 1), changed) == before, position < 6) << "position " << position;
  }
}

TEST(Transformer, AStepWithoutLogitsFillsThePages) {
  ASSERT_OK_AND_ASSIGN(TinyModel model, LoadTiny(TinyConfig()));
  const std::vector<TokenId> tokens = RandomTokens(20, 97, 1);
  const LogitRows cold = model.Cold(tokens);
  const std::vector<SlotIndex> slots = {SlotIndex{5}, SlotIndex{3}};
  BatchBuilder prefix;
  prefix.Add({.tokens = tokens, .count = 19, .slots = slots, .logits = LogitsOf::kNone});
  model.transformer().Forward(prefix.batch());
  BatchBuilder last;
  last.Add({.tokens = tokens, .first = 19, .count = 1, .slots = slots});
  model.transformer().Forward(last.batch());
  EXPECT_EQ(ReadLogits(model.transformer(), last.batch()).at(0), cold.at(19));
}

TEST(Transformer, ProgressGrowsToTheWhole) {
  const std::unique_ptr<Backend> backend = NewReferenceBackend();
  std::vector<std::pair<int64_t, int64_t>> reports;
  ASSERT_OK(Transformer::Load(RandomModelSource(ConfigWithEverything(), 1), *backend, TinyModel::kOptions,
                              [&](int64_t done, int64_t total) { reports.emplace_back(done, total); }));
  ASSERT_GT(reports.size(), 4u);
  for (size_t i = 1; i < reports.size(); ++i) EXPECT_GT(reports[i].first, reports[i - 1].first);
  EXPECT_EQ(reports.back().first, reports.back().second);
}

TEST(Transformer, AMissingTensorIsNamed) {
  using enum WeightRole;
  for (const WeightName& name :
       {WeightName{kEmbedding}, WeightName{kOutputNorm}, WeightName{kOutput}, WeightName{kKey, 1},
        WeightName{kKeyBias, 0}, WeightName{kQueryNorm, 1}, WeightName{kUp, 0}, WeightName{kDown, 1}}) {
    RandomModelSource source(ConfigWithEverything(), 1);
    source.Remove(name);
    EXPECT_THAT(LoadStatus(source),
                StatusIs(absl::StatusCode::kNotFound,
                         HasSubstr(fmt::format("role{}.{}", static_cast<int>(name.role), name.layer))));
  }
}

TEST(Transformer, ATensorOfTheWrongShapeIsNamed) {
  RandomModelSource source(TinyConfig(), 1);
  source.Reshape({WeightRole::kUp, 1}, {32, 64});
  EXPECT_THAT(LoadStatus(source), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("64")));
}

TEST(Transformer, OptionsThatMakeNoSenseAreNamed) {
  const struct {
    std::string field;
    TransformerOptions options;
  } kCases[] = {
      {"kv_dtype", {.kv_dtype = DType::kQ8_0, .slots = 1}},
      {"block_tokens", {.block_tokens = 0, .slots = 1}},
      {"slots", {.slots = 0}},
      {"max_step_tokens", {.slots = 1, .max_step_tokens = 0}},
      {"max_logit_rows", {.slots = 1, .max_logit_rows = -1}},
  };
  for (const auto& [field, options] : kCases) {
    EXPECT_THAT(LoadStatus(RandomModelSource(TinyConfig(), 1), options),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(field)));
  }
}

TEST(Transformer, MemoryThatIsNotThereIsAStatusWithTheSize) {
  TransformerOptions options = TinyModel::kOptions;
  for (int64_t slots : {int64_t{1} << 40, int64_t{1} << 60}) {
    options.slots = slots;
    EXPECT_THAT(LoadStatus(RandomModelSource(TinyConfig(), 1), options),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr("KV pages"), HasSubstr(fmt::format("{}", slots)))));
  }
}

TEST(Transformer, FingerprintFollowsWeightsAndOptions) {
  ASSERT_OK_AND_ASSIGN(TinyModel model, LoadTiny(TinyConfig()));
  ASSERT_OK_AND_ASSIGN(TinyModel same, LoadTiny(TinyConfig()));
  EXPECT_EQ(model.transformer().fingerprint(), same.transformer().fingerprint());

  auto source = std::make_unique<RandomModelSource>(TinyConfig(), 1);
  source->Weight({WeightRole::kDown, 1}, 5) += 1e-3f;
  ASSERT_OK_AND_ASSIGN(TinyModel other_weights, TinyModel::Load(std::move(source), NewReferenceBackend()));
  EXPECT_NE(model.transformer().fingerprint(), other_weights.transformer().fingerprint());

  TransformerOptions bf16 = TinyModel::kOptions;
  bf16.kv_dtype = DType::kBF16;
  ASSERT_OK_AND_ASSIGN(TinyModel other_dtype, LoadTiny(TinyConfig(), bf16));
  EXPECT_NE(model.transformer().fingerprint(), other_dtype.transformer().fingerprint());
}

}  // namespace
}  // namespace headstart
