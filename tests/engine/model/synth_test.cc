#include "engine/model/synth.h"

#include <cmath>
#include <map>
#include <set>

#include "engine/model/model_source.h"
#include "engine/model/number_formats.h"
#include "engine/model/synth_plan.h"
#include "engine/model/synth_weights.h"
#include "engine/model/weight_names.h"
#include "engine/model/weights_digest.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/model/temp_folder.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using ::testing::HasSubstr;

constexpr const char* kTinyShapes[] = {"tiny", "tiny-qwen2", "tiny-llama3", "tiny-mistral", "tiny-yarn"};

absl::StatusOr<std::unique_ptr<ModelSource>> Open(const SynthOptions& options) {
  const auto files = SynthModelFiles(options);
  if (!files.ok()) return files.status();
  return OpenModel(*files, options.shape);
}

std::vector<float> Values(const TensorView& tensor) {
  int64_t count = 1;
  for (const int64_t dimension : tensor.shape) count *= dimension;
  std::vector<float> values(static_cast<size_t>(count));
  DecodeRow(tensor.dtype, tensor.bytes, values);
  return values;
}

// Rows of a GGUF llama matrix in the order of a Hugging Face file: within a head, even rows are its first half.
std::vector<float> Deinterleaved(const std::vector<float>& values, int64_t rows, int64_t head_dim) {
  const auto length = static_cast<int64_t>(values.size()) / rows;
  std::vector<float> result(values.size());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / head_dim;
    const int64_t half = row % 2;
    const int64_t pair = row % head_dim / 2;
    const int64_t to = head * head_dim + half * head_dim / 2 + pair;
    std::copy_n(values.begin() + row * length, length, result.begin() + to * length);
  }
  return result;
}

void ExpectSameConfig(const ModelConfig& a, const ModelConfig& b) {
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.hidden_size, b.hidden_size);
  EXPECT_EQ(a.intermediate_size, b.intermediate_size);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.kv_heads, b.kv_heads);
  EXPECT_EQ(a.head_dim, b.head_dim);
  EXPECT_EQ(a.vocab_size, b.vocab_size);
  EXPECT_EQ(a.max_positions, b.max_positions);
  EXPECT_EQ(a.rms_norm_epsilon, b.rms_norm_epsilon);
  EXPECT_EQ(a.rope_theta, b.rope_theta);
  EXPECT_EQ(a.attention_bias, b.attention_bias);
  EXPECT_EQ(a.qk_norm, b.qk_norm);
  EXPECT_EQ(a.tied_embeddings, b.tied_embeddings);
  EXPECT_EQ(a.sliding_window, b.sliding_window);
  EXPECT_EQ(a.eos_token_ids, b.eos_token_ids);
}

class SynthShapes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tiny, SynthShapes, ::testing::ValuesIn(kTinyShapes),
                         [](const auto& param_info) { return std::string(param_info.param).replace(4, 1, "_"); });

TEST_P(SynthShapes, OpenWithTheirConfigurationInBothFormats) {
  ASSERT_OK_AND_ASSIGN(ModelConfig shape, SynthShape(GetParam()));
  shape.eos_token_ids = {258, 256};
  for (const auto format : {SynthFormat::kHuggingFace, SynthFormat::kGguf}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Open({.shape = GetParam(), .format = format}));
    ExpectSameConfig(model->config(), shape);
    EXPECT_EQ(model->config().name, GetParam());
    EXPECT_EQ(std::ssize(model->tokenizer().vocabulary), shape.vocab_size);
    EXPECT_FALSE(model->chat_template().empty());
  }
}

// Every weight is what the generator says, rounded to the type, in both formats and all types.
TEST_P(SynthShapes, HoldTheSameWeightsInBothFormats) {
  for (const auto dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    ASSERT_OK_AND_ASSIGN(const auto folder, Open({.shape = GetParam(), .dtype = dtype}));
    ASSERT_OK_AND_ASSIGN(const auto gguf, Open({.shape = GetParam(), .format = SynthFormat::kGguf, .dtype = dtype}));
    const ModelConfig& config = gguf->config();
    for (const WeightName name : WeightsOf(config)) {
      ASSERT_OK_AND_ASSIGN(const TensorView expected, folder->Tensor(name));
      ASSERT_OK_AND_ASSIGN(const TensorView actual, gguf->Tensor(name));
      ASSERT_EQ(actual.shape, expected.shape);
      const bool rotated = name.role == WeightRole::kQuery || name.role == WeightRole::kKey;
      std::vector<float> values = Values(actual);
      if (rotated && config.rope_adjacent_pairs) values = Deinterleaved(values, actual.shape[0], config.head_dim);
      EXPECT_EQ(values, Values(expected)) << actual.name << " in " << DTypeName(dtype);
    }
  }
}

TEST_P(SynthShapes, Q8WeightsAreNearTheUnroundedOnes) {
  ASSERT_OK_AND_ASSIGN(const auto exact,
                       Open({.shape = GetParam(), .format = SynthFormat::kGguf, .dtype = DType::kF32}));
  ASSERT_OK_AND_ASSIGN(const auto rounded,
                       Open({.shape = GetParam(), .format = SynthFormat::kGguf, .dtype = DType::kQ8_0}));
  for (const WeightName name : WeightsOf(exact->config())) {
    ASSERT_OK_AND_ASSIGN(const TensorView tensor, rounded->Tensor(name));
    EXPECT_EQ(tensor.dtype, tensor.shape.size() > 1 ? DType::kQ8_0 : DType::kF32);
    const auto expected = Values(*exact->Tensor(name));
    const auto actual = Values(tensor);
    const float largest = std::fabs(*std::max_element(expected.begin(), expected.end(),
                                                      [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
    // Half a step of the block's scale, and the scale's own rounding.
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], largest / 254 + largest / 2048);
  }
}

TEST_P(SynthShapes, RotateAlikeInBothFormats) {
  ASSERT_OK_AND_ASSIGN(const auto folder, Open({.shape = GetParam()}));
  ASSERT_OK_AND_ASSIGN(const auto gguf, Open({.shape = GetParam(), .format = SynthFormat::kGguf}));
  const auto expected = ComputeRopeFrequencies(folder->config());
  const auto actual = ComputeRopeFrequencies(gguf->config());
  EXPECT_EQ(actual.magnitude, expected.magnitude);
  for (size_t i = 0; i < expected.inverse.size(); ++i) {
    // GGUF stores llama3's scaling as a quotient in float: two roundings more.
    EXPECT_NEAR(actual.inverse[i] / expected.inverse[i], 1, 2e-7) << i;
  }
}

TEST(SynthModel, FilesOnDiskAreThoseInMemory) {
  const TempFolder folder;
  for (const auto format : {SynthFormat::kHuggingFace, SynthFormat::kGguf}) {
    const std::string name = format == SynthFormat::kGguf ? "model.gguf" : "deep/folder";
    SynthOptions options{.shape = "tiny-llama3", .format = format, .path = folder.At(name)};
    int64_t done = 0, total = 1;
    ASSERT_OK(WriteSynthModel(options, [&](int64_t d, int64_t t) { done = d, total = t; }));
    EXPECT_EQ(done, total);
    ASSERT_OK_AND_ASSIGN(const auto on_disk, OpenModel(options.path));
    ASSERT_OK_AND_ASSIGN(const auto in_memory, Open(options));
    EXPECT_EQ(WeightsDigest(*on_disk), WeightsDigest(*in_memory));
  }
  EXPECT_EQ(MappedFolder(folder.At("deep/folder"))->List(),
            (std::vector<std::string>{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                                      "tokenizer_config.json"}));
}

TEST(SynthModel, SeedsAndShapesGiveDifferentWeights) {
  std::set<std::pair<uint64_t, uint64_t>> digests;
  for (const char* shape : kTinyShapes) {
    for (const uint64_t seed : {1, 2}) {
      ASSERT_OK_AND_ASSIGN(const auto model, Open({.shape = shape, .seed = seed}));
      const Fingerprint digest = WeightsDigest(*model);
      digests.insert({digest.high, digest.low});
    }
  }
  EXPECT_EQ(digests.size(), 8);  // tiny and tiny-yarn differ in their configuration alone
}

// The values are part of what benchmarks and recorded answers rest on. These come from a second implementation, in
// Python.
TEST(SynthModel, WeightsNeverChange) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig config, SynthShape("tiny"));
  std::vector<float> row(4);
  SynthWeights(config, 1).Row({WeightRole::kQuery, 1}, 3, row);
  EXPECT_EQ(row, (std::vector<float>{0.0393462f, -0.18212897f, 0.0769646f, -0.08449357f}));
}

TEST(SynthModel, WeightsHaveTheirSpread) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig config, SynthShape("qwen3-0.6b"));
  const SynthWeights weights(config, 7);
  std::vector<float> row(static_cast<size_t>(config.hidden_size));
  double sum = 0, squares = 0;
  constexpr int kRows = 64;
  for (int i = 0; i < kRows; ++i) {
    weights.Row({WeightRole::kGate, 5}, i, row);
    for (const float value : row) sum += value, squares += double{value} * value;
  }
  const double count = kRows * static_cast<double>(row.size());
  const double deviation = 1 / std::sqrt(1024.0);
  EXPECT_NEAR(sum / count, 0, 4 * deviation / std::sqrt(count));  // four standard errors
  EXPECT_NEAR(squares / count, deviation * deviation, 6 * deviation * deviation / std::sqrt(count));
}

TEST(SynthModel, TokenizersOfBothFormatsAgree) {
  ASSERT_OK_AND_ASSIGN(const auto folder, Open({}));
  ASSERT_OK_AND_ASSIGN(const auto gguf, Open({.format = SynthFormat::kGguf}));
  ASSERT_OK_AND_ASSIGN(const auto a, Tokenizer::Create(folder->tokenizer()));
  ASSERT_OK_AND_ASSIGN(const auto b, Tokenizer::Create(gguf->tokenizer()));
  const std::string text = "<|im_start|>user\nThe cat, in 1999, ate \xF0\x9F\x8D\x95 there.\n<|im_end|>";
  const auto ids = a->Encode(text, {.parse_special = true});
  EXPECT_EQ(ids, b->Encode(text, {.parse_special = true}));
  EXPECT_EQ(ids.front(), TokenId{257});
  EXPECT_EQ(ids.back(), TokenId{258});
  EXPECT_EQ(a->Decode(ids, true), text);
  EXPECT_EQ(b->Decode(ids, true), text);
  EXPECT_LT(ids.size(), text.size() - 20);  // merges apply
}

TEST(SynthModel, NamesTheOptionThatIsWrong) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(SynthModelFiles({.shape = "gpt-5"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("choose one of qwen3-0.6b")));
  EXPECT_THAT(SynthModelFiles({.dtype = DType::kQ8_0}), StatusIs(kInvalid, HasSubstr("Q8_0 is a type of GGUF files")));
  EXPECT_THAT(WriteSynthModel({}), StatusIs(kInvalid, HasSubstr("a path")));
  EXPECT_THAT(WriteSynthModel({.format = SynthFormat::kGguf, .path = "/tmp/model"}),
              StatusIs(kInvalid, HasSubstr("ends in .gguf")));
  EXPECT_THAT(WriteSynthModel({.path = "/proc/no/such"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/proc/no/such")));
  ASSERT_OK_AND_ASSIGN(ModelConfig config, SynthShape("tiny"));
  config.vocab_size = 100;
  EXPECT_THAT(SynthModelFiles({.config = config}), StatusIs(kInvalid, HasSubstr("vocab_size is 100")));
  config.vocab_size = 300;
  config.hidden_size = 48;
  EXPECT_THAT(SynthModelFiles({.config = config, .format = SynthFormat::kGguf, .dtype = DType::kQ8_0}),
              StatusIs(kInvalid, HasSubstr("rows of 48 weights")));
}

TEST(SynthModel, EveryNamedShapeIsValid) {
  for (const std::string_view name : SynthShapeNames()) {
    ASSERT_OK_AND_ASSIGN(const ModelConfig config, SynthShape(name));
    EXPECT_OK(ValidateModelConfig(config));
    EXPECT_EQ(config.name, name);
  }
}

}  // namespace
}  // namespace headstart
