#include "engine/model/hf_config.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using ::headstart::testing::StatusIs;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

json Llama() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"num_hidden_layers", 4},
          {"hidden_size", 128},
          {"intermediate_size", 256},
          {"num_attention_heads", 4},
          {"vocab_size", 1000},
          {"max_position_embeddings", 4096}};
}

json With(json config, const json& changes) {
  config.update(changes);
  return config;
}

json Qwen2(const json& changes) {
  return With(Llama(), With({{"architectures", {"Qwen2ForCausalLM"}}, {"num_key_value_heads", 2}}, changes));
}

json Mistral(const json& changes) {
  return With(Llama(), With({{"architectures", {"MistralForCausalLM"}}, {"num_key_value_heads", 2}}, changes));
}

absl::StatusOr<ModelConfig> Parse(const json& config, std::string_view generation = "") {
  return ParseHuggingFaceConfig({.config_json = config.dump(),
                                 .config_path = "m/config.json",
                                 .generation_config_json = generation,
                                 .generation_config_path = "m/generation_config.json"});
}

TEST(HuggingFaceConfig, FillsInWhatLlamaFilesLeaveOut) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig config, Parse(Llama()));
  EXPECT_EQ(config.architecture, Architecture::kLlama);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 32);
  EXPECT_EQ(config.rope_theta, 10000);
  EXPECT_EQ(config.rms_norm_epsilon, 1e-6f);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_FALSE(config.rope_adjacent_pairs);
  EXPECT_FALSE(config.attention_bias);
  EXPECT_FALSE(config.qk_norm);
  EXPECT_TRUE(config.eos_token_ids.empty());
}

TEST(HuggingFaceConfig, NullIsAsGoodAsMissing) {
  const json nulls = {{"num_key_value_heads", nullptr}, {"head_dim", nullptr},
                      {"rope_scaling", nullptr},        {"sliding_window", nullptr},
                      {"quantization_config", nullptr}, {"eos_token_id", nullptr}};
  ASSERT_OK_AND_ASSIGN(const ModelConfig config, Parse(With(Llama(), nulls)));
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 32);
}

TEST(HuggingFaceConfig, TellsArchitecturesApart) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig qwen2, Parse(Qwen2(json::object())));
  EXPECT_TRUE(qwen2.attention_bias);
  EXPECT_FALSE(qwen2.qk_norm);
  ASSERT_OK_AND_ASSIGN(const ModelConfig qwen3,
                       Parse(Qwen2({{"architectures", {"Qwen3ForCausalLM"}}, {"head_dim", 64}})));
  EXPECT_FALSE(qwen3.attention_bias);
  EXPECT_TRUE(qwen3.qk_norm);
  EXPECT_EQ(qwen3.head_dim, 64);
  json by_type = Llama();
  by_type.erase("architectures");
  by_type["model_type"] = "llama";
  EXPECT_OK(Parse(by_type));
}

TEST(HuggingFaceConfig, GathersEndTokensOfBothFiles) {
  const json config = With(Llama(), {{"eos_token_id", 7}});
  ASSERT_OK_AND_ASSIGN(const ModelConfig one, Parse(config, R"({"eos_token_id": 9})"));
  EXPECT_EQ(one.eos_token_ids, (std::vector<int32_t>{7, 9}));
  ASSERT_OK_AND_ASSIGN(const ModelConfig list, Parse(config, R"({"eos_token_id": [9, 7, 8]})"));
  EXPECT_EQ(list.eos_token_ids, (std::vector<int32_t>{7, 9, 8}));
  ASSERT_OK_AND_ASSIGN(const ModelConfig none, Parse(With(Llama(), {{"eos_token_id", -1}}), "{}"));
  EXPECT_TRUE(none.eos_token_ids.empty());
  EXPECT_THAT(Parse(config, R"({"eos_token_id": "x"})"),
              StatusIs(kInvalid, HasSubstr("m/generation_config.json: field")));
}

struct Window {
  std::string what;
  json config;
  int window;
};

TEST(HuggingFaceConfig, HonoursWindowsThatAllLayersHave) {
  const json layers = {"sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention"};
  const json full = {"full_attention", "full_attention", "full_attention", "full_attention"};
  const Window windows[] = {
      {"mistral", Mistral({{"sliding_window", 100}}), 100},
      {"mistral without", Mistral({{"sliding_window", nullptr}}), 0},
      {"llama has none", With(Llama(), {{"sliding_window", 100}}), 0},
      {"qwen2 off", Qwen2({{"sliding_window", 100}, {"use_sliding_window", false}, {"max_window_layers", 2}}), 0},
      {"qwen2 on, from layer 0",
       Qwen2({{"sliding_window", 100}, {"use_sliding_window", true}, {"max_window_layers", 0}}), 100},
      {"qwen2 on, past the end",
       Qwen2({{"sliding_window", 100}, {"use_sliding_window", true}, {"max_window_layers", 4}}), 0},
      {"layer types", Qwen2({{"sliding_window", 100}, {"use_sliding_window", true}, {"layer_types", layers}}), 100},
      {"full layer types", Mistral({{"sliding_window", 100}, {"layer_types", full}}), 0},
  };
  for (const Window& window : windows) {
    const auto config = Parse(window.config);
    ASSERT_OK(config);
    EXPECT_EQ(config->sliding_window, window.window) << window.what;
  }
}

struct Refusal {
  json config;
  absl::StatusCode code;
  std::string message;
};

void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(Parse(refusal.config), StatusIs(refusal.code, HasSubstr(refusal.message))) << refusal.message;
    EXPECT_THAT(Parse(refusal.config), StatusIs(refusal.code, HasSubstr("m/config.json: "))) << refusal.message;
  }
}

TEST(HuggingFaceConfig, NamesWhatIsNotSupported) {
  const json mixed = {"full_attention", "sliding_attention", "full_attention", "sliding_attention"};
  const json other = {"full_attention", "full_attention", "linear_attention", "full_attention"};
  ExpectRefused({
      {With(Llama(), {{"architectures", {"MixtralForCausalLM"}}}), kUnimplemented,
       "'MixtralForCausalLM' is not supported"},
      {With(Llama(), {{"architectures", json::array()}}), kUnimplemented, "architecture '' is not supported"},
      {With(Llama(), {{"quantization_config", {{"quant_method", "gptq"}}}}), kUnimplemented,
       "quantization_config (gptq)"},
      {With(Llama(), {{"num_experts", 8}}), kUnimplemented, "mixtures of experts"},
      {With(Llama(), {{"attention_bias", true}}), kUnimplemented, "attention_bias true"},
      {With(Llama(), {{"mlp_bias", true}}), kUnimplemented, "mlp_bias true"},
      {With(Llama(), {{"hidden_act", "gelu"}}), kUnimplemented, "hidden_act 'gelu'"},
      {With(Llama(), {{"partial_rotary_factor", 0.5}}), kUnimplemented, "partial_rotary_factor"},
      {With(Llama(), {{"rope_scaling", {{"type", "dynamic"}, {"factor", 2}}}}), kUnimplemented,
       "rope scaling 'dynamic'"},
      {With(Llama(), {{"rope_parameters", {{"full_attention", {{"rope_theta", 1e4}}}}}}), kUnimplemented,
       "between layers"},
      {Qwen2({{"sliding_window", 9}, {"use_sliding_window", true}, {"max_window_layers", 1}}), kUnimplemented,
       "sliding_window on 3 of 4 layers"},
      {Mistral({{"sliding_window", 9}, {"layer_types", mixed}}), kUnimplemented, "sliding_window on 2 of 4 layers"},
      {Mistral({{"sliding_window", 9}, {"layer_types", other}}), kUnimplemented, "layer type 'linear_attention'"},
  });
}

TEST(HuggingFaceConfig, NamesWhatIsWrong) {
  json no_layers = Llama();
  no_layers.erase("num_hidden_layers");
  json no_kv_heads = Qwen2(json::object());
  no_kv_heads.erase("num_key_value_heads");
  ExpectRefused({
      {json::array(), kInvalid, "must be a JSON object"},
      {no_layers, kInvalid, "field 'num_hidden_layers' is missing"},
      {no_kv_heads, kInvalid, "field 'num_key_value_heads' is missing"},
      {With(Llama(), {{"hidden_size", "128"}}), kInvalid, "field 'hidden_size' must be an integer"},
      {With(Llama(), {{"hidden_size", 1e30}}), kInvalid, "field 'hidden_size' must be an integer"},
      {With(Llama(), {{"hidden_size", 1ull << 40}}), kInvalid, "fits 31 bits"},
      {With(Llama(), {{"hidden_size", 1 << 20}}), kInvalid, "hidden_size is 1048576; 1 to 131072 are allowed"},
      {With(Llama(), {{"num_hidden_layers", 0}}), kInvalid, "layers is 0; 1 to 1024"},
      {With(Llama(), {{"num_hidden_layers", -1}}), kInvalid, "layers is -1"},
      {With(Llama(), {{"num_attention_heads", 0}}), kInvalid, "num_attention_heads"},
      {With(Llama(), {{"num_attention_heads", 3}}), kInvalid, "(3) must divide hidden_size (128)"},
      {With(Llama(), {{"num_key_value_heads", 3}}), kInvalid, "heads (4) must be a multiple of kv_heads (3)"},
      {With(Llama(), {{"head_dim", 33}}), kInvalid, "head_dim must be even"},
      {With(Llama(), {{"head_dim", 0}}), kInvalid, "head_dim is 0"},
      {With(Llama(), {{"rms_norm_eps", 0}}), kInvalid, "rms_norm_epsilon must be above 0"},
      {With(Llama(), {{"rope_theta", 0}}), kInvalid, "rope_theta must be above 1"},
      {With(Llama(), {{"tie_word_embeddings", 1}}), kInvalid, "field 'tie_word_embeddings' must be true or false"},
      {With(Llama(), {{"eos_token_id", 1000}}), kInvalid, "eos_token_id is 1000; 0 to 999"},
      {With(Llama(), {{"rope_scaling", 2}}), kInvalid, "field 'rope_scaling' must be an object"},
      {With(Llama(), {{"rope_scaling", {{"type", "linear"}}}}), kInvalid, "rope_scaling: field 'factor' is missing"},
      {With(Llama(), {{"rope_scaling", {{"type", "linear"}, {"factor", 0}}}}), kInvalid, "factor of the rope scaling"},
      {With(Llama(), {{"rope_scaling", {{"type", "yarn"}, {"factor", 1e300}}}}), kInvalid,
       "factor of the rope scaling"},
      {With(Llama(), {{"rope_scaling",
                       {{"type", "llama3"},
                        {"factor", 8},
                        {"low_freq_factor", 4},
                        {"high_freq_factor", 4},
                        {"original_max_position_embeddings", 64}}}}),
       kInvalid, "must be above low_freq"},
      {Mistral({{"sliding_window", 9}, {"layer_types", {"full_attention"}}}), kInvalid, "must be a list of 4 names"},
  });
}

// Nesting costs no stack, wherever a value of unknown kind may stand.
TEST(HuggingFaceConfig, SurvivesDeepNesting) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const char* field :
       {"eos_token_id", "layer_types", "quantization_config", "rope_scaling", "architectures", "other"}) {
    std::string text = Mistral({{"sliding_window", 9}}).dump();
    text.pop_back();
    text += fmt::format(",\"{}\":{}}}", field, deep);
    (void)ParseHuggingFaceConfig(
        {.config_json = text, .config_path = "c", .generation_config_json = "", .generation_config_path = ""});
  }
}

TEST(HuggingFaceConfig, RefusesWhatIsNotJson) {
  const std::string huge(2 << 20, ' ');
  EXPECT_THAT(ParseHuggingFaceConfig(
                  {.config_json = "{", .config_path = "c", .generation_config_json = "", .generation_config_path = ""}),
              StatusIs(kInvalid, HasSubstr("c: not valid JSON at byte 2")));
  EXPECT_THAT(ParseHuggingFaceConfig({.config_json = "{\"vocab_size\": 1e400}",
                                      .config_path = "c",
                                      .generation_config_json = "",
                                      .generation_config_path = ""}),
              StatusIs(kInvalid, HasSubstr("c: has a number that is out of range")));
  EXPECT_THAT(
      ParseHuggingFaceConfig(
          {.config_json = huge, .config_path = "c", .generation_config_json = "", .generation_config_path = ""}),
      StatusIs(kInvalid, HasSubstr("c: 2097152 bytes; the limit is 1048576")));
}

}  // namespace
}  // namespace headstart
