#include "engine/model/model_source.h"

#include <filesystem>

#include "tests/testing/status.h"

namespace headstart {
namespace {

constexpr char kStories[] = "../shared/data/models/stories260K.gguf";

TEST(OpenModel, ReadsATrainedGguf) {
  if (!std::filesystem::exists(kStories)) GTEST_SKIP() << kStories << " is not there";
  ASSERT_OK_AND_ASSIGN(const auto model, OpenModel(kStories));
  const ModelConfig& config = model->config();
  EXPECT_EQ(config.name, "stories260K");
  EXPECT_EQ(config.architecture, Architecture::kLlama);
  EXPECT_EQ(config.layers, 5);
  EXPECT_EQ(config.hidden_size, 64);
  EXPECT_EQ(config.intermediate_size, 172);
  EXPECT_EQ(config.heads, 8);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 8);
  EXPECT_EQ(config.vocab_size, 512);
  EXPECT_EQ(config.max_positions, 512);
  EXPECT_TRUE(config.rope_adjacent_pairs);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_EQ(config.eos_token_ids, std::vector<int32_t>{2});
  EXPECT_EQ(model->AllTensors().size(), 48);
  ASSERT_OK_AND_ASSIGN(const auto down, model->Tensor({.role = WeightRole::kDown, .layer = 4}));
  EXPECT_EQ(down.name, "blk.4.ffn_down.weight");
  EXPECT_EQ(down.shape, (std::vector<int64_t>{64, 172}));
  EXPECT_EQ(model->tokenizer().vocabulary.size(), 512);
}

}  // namespace
}  // namespace headstart
