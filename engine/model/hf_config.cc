#include "engine/model/hf_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "engine/model/json_fields.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using nlohmann::json;

// Real ones take a few KiB.
constexpr size_t kMaxConfigBytes = 1 << 20;

// As far as YaRN may stretch a context: what ValidateModelConfig allows.
constexpr int kMaxPositions = 1 << 24;

struct KnownArchitecture {
  std::string_view class_name;
  std::string_view model_type;
  Architecture architecture;
};

constexpr KnownArchitecture kArchitectures[] = {
    {"LlamaForCausalLM", "llama", Architecture::kLlama},
    {"MistralForCausalLM", "mistral", Architecture::kMistral},
    {"Qwen2ForCausalLM", "qwen2", Architecture::kQwen2},
    {"Qwen3ForCausalLM", "qwen3", Architecture::kQwen3},
};

class ConfigReader {
 public:
  ConfigReader(const json& root, std::string path) : path_(std::move(path)), fields_(root, path_) {}

  absl::StatusOr<ModelConfig> Run() {
    for (const auto step : {&ConfigReader::ReadArchitecture, &ConfigReader::RefuseUnsupported, &ConfigReader::ReadSizes,
                            &ConfigReader::ReadRope, &ConfigReader::ReadWindow}) {
      if (auto status = (this->*step)(); !status.ok()) return status;
      if (!fields_.status().ok()) return fields_.status();
    }
    return config_;
  }

 private:
  absl::Status Unsupported(std::string_view what) const {
    return absl::UnimplementedError(fmt::format("{}: {}", path_, what));
  }

  // `architectures` names the class that computes; files without it are told by `model_type`.
  absl::Status ReadArchitecture() {
    std::string name = fields_.String("model_type", "");
    const json* classes = fields_.Find("architectures");
    if (classes != nullptr && classes->is_array() && !classes->empty() && classes->front().is_string()) {
      name = classes->front().get<std::string>();
    }
    for (const auto& known : kArchitectures) {
      if (name != known.class_name && name != known.model_type) continue;
      config_.architecture = known.architecture;
      config_.attention_bias = known.architecture == Architecture::kQwen2;
      config_.qk_norm = known.architecture == Architecture::kQwen3;
      return absl::OkStatus();
    }
    return Unsupported(
        fmt::format("the architecture '{}' is not supported; LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM "
                    "and Qwen3ForCausalLM are",
                    name));
  }

  absl::Status RefuseUnsupported() {
    if (const json* quantization = fields_.Find("quantization_config")) {
      return Unsupported(
          fmt::format("quantization_config ({}) is not supported; use the unquantised weights, or a GGUF file in Q8_0",
                      QuantizationMethod(*quantization)));
    }
    for (const char* field : {"num_experts", "num_local_experts", "n_routed_experts"}) {
      if (fields_.Has(field)) return Unsupported(fmt::format("{}: mixtures of experts are not supported", field));
    }
    for (const char* field : {"attention_bias", "mlp_bias"}) {
      if (fields_.Bool(field, false))
        return Unsupported(fmt::format("{} true is not supported; only Qwen2's biases are", field));
    }
    const std::string activation = fields_.String("hidden_act", "silu");
    if (activation != "silu") return Unsupported(fmt::format("hidden_act '{}' is not supported; silu is", activation));
    if (fields_.Number("partial_rotary_factor", 1) != 1) {
      return Unsupported("partial_rotary_factor other than 1 is not supported");
    }
    return absl::OkStatus();
  }

  static std::string QuantizationMethod(const json& quantization) {
    if (!quantization.is_object()) return "of unknown kind";
    const auto method = quantization.find("quant_method");
    return method != quantization.end() && method->is_string() ? method->get<std::string>() : "of unknown kind";
  }

  absl::Status ReadSizes() {
    config_.layers = fields_.Int("num_hidden_layers");
    config_.hidden_size = fields_.Int("hidden_size");
    config_.intermediate_size = fields_.Int("intermediate_size");
    config_.heads = fields_.Int("num_attention_heads");
    const bool llama = config_.architecture == Architecture::kLlama;
    config_.kv_heads = fields_.Int("num_key_value_heads", llama ? std::optional(config_.heads) : std::nullopt);
    config_.vocab_size = fields_.Int("vocab_size");
    config_.max_positions = fields_.Int("max_position_embeddings");
    config_.rms_norm_epsilon = static_cast<float>(fields_.Number("rms_norm_eps", 1e-6));
    config_.tied_embeddings = fields_.Bool("tie_word_embeddings", false);
    config_.eos_token_ids = fields_.Ids("eos_token_id");
    return ReadHeadDim();
  }

  absl::Status ReadHeadDim() {
    config_.head_dim = fields_.Int("head_dim", 0);
    if (fields_.Has("head_dim") || !fields_.status().ok()) return absl::OkStatus();
    if (config_.heads < 1 || config_.hidden_size % config_.heads != 0) {
      fields_.Fail("num_attention_heads", fmt::format("({}) must divide hidden_size ({}) when there is no head_dim",
                                                      config_.heads, config_.hidden_size));
      return absl::OkStatus();
    }
    config_.head_dim = config_.hidden_size / config_.heads;
    return absl::OkStatus();
  }

  // Newer files keep all of it in `rope_parameters`; older ones have `rope_theta` and, for scaling, `rope_scaling`.
  absl::Status ReadRope() {
    config_.rope_theta = fields_.Number("rope_theta", 10000);
    const char* name = fields_.Has("rope_parameters") ? "rope_parameters" : "rope_scaling";
    const json* object = fields_.Find(name);
    if (object == nullptr) return absl::OkStatus();
    if (!object->is_object()) {
      fields_.Fail(name, "must be an object");
      return absl::OkStatus();
    }
    JsonFields rope(*object, fmt::format("{}: {}", path_, name));
    auto status = ReadScaling(*object, rope);
    return status.ok() ? rope.status() : status;
  }

  absl::Status ReadScaling(const json& object, JsonFields& rope) {
    for (const auto& item : object.items()) {
      if (item.value().is_object()) return Unsupported("rope parameters that differ between layers are not supported");
    }
    config_.rope_theta = rope.Number("rope_theta", config_.rope_theta);
    if (rope.Number("partial_rotary_factor", 1) != 1) {
      return Unsupported("partial_rotary_factor other than 1 is not supported");
    }
    const std::string type = rope.String("rope_type", rope.String("type", "default"));
    if (type == "default") return absl::OkStatus();
    if (type == "linear") return ReadLinear(rope);
    if (type == "llama3") return ReadLlama3(rope);
    if (type == "yarn") return ReadYarn(rope);
    return Unsupported(fmt::format("rope scaling '{}' is not supported; default, linear, llama3 and yarn are", type));
  }

  absl::Status ReadLinear(JsonFields& rope) {
    config_.rope_scaling.kind = RopeScalingKind::kLinear;
    config_.rope_scaling.factor = rope.Number("factor");
    return absl::OkStatus();
  }

  absl::Status ReadLlama3(JsonFields& rope) {
    RopeScaling& scaling = config_.rope_scaling;
    scaling.kind = RopeScalingKind::kLlama3;
    scaling.factor = rope.Number("factor");
    scaling.low_freq_factor = rope.Number("low_freq_factor");
    scaling.high_freq_factor = rope.Number("high_freq_factor");
    scaling.original_max_positions = rope.Int("original_max_position_embeddings");
    return absl::OkStatus();
  }

  absl::Status ReadYarn(JsonFields& rope) {
    RopeScaling& scaling = config_.rope_scaling;
    scaling.kind = RopeScalingKind::kYarn;
    scaling.original_max_positions = rope.Int("original_max_position_embeddings", config_.max_positions);
    const double stretched = static_cast<double>(config_.max_positions) / std::max(scaling.original_max_positions, 1);
    scaling.factor = rope.Number("factor", stretched);
    scaling.beta_fast = rope.Number("beta_fast", 32);
    scaling.beta_slow = rope.Number("beta_slow", 1);
    scaling.truncate = rope.Bool("truncate", true);
    scaling.attention_factor = rope.Number("attention_factor", YarnMscale(rope, scaling.factor));
    // Files name the trained context; scaling is what makes the longer one usable.
    const double reach = scaling.original_max_positions * scaling.factor;
    if (reach > config_.max_positions && reach <= kMaxPositions) config_.max_positions = static_cast<int>(reach);
    return absl::OkStatus();
  }

  // The attention factor from DeepSeek's pair of fields; 0, "derive it", when they are not both there.
  static double YarnMscale(JsonFields& rope, double factor) {
    const double mscale = rope.Number("mscale", 0);
    const double all_dims = rope.Number("mscale_all_dim", 0);
    if (mscale == 0 || all_dims == 0) return 0;
    const auto scale = [&](double m) { return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1; };
    return scale(mscale) / scale(all_dims);
  }

  absl::Status ReadWindow() {
    const int window = fields_.Int("sliding_window", 0);
    if (window == 0 || config_.architecture == Architecture::kLlama)
      return absl::OkStatus();  // Llama has none to slide
    const bool qwen = config_.architecture != Architecture::kMistral;
    if (qwen && !fields_.Bool("use_sliding_window", false)) return absl::OkStatus();
    const auto sliding = CountSlidingLayers(qwen);
    if (!sliding.ok()) return sliding.status();
    if (*sliding == config_.layers) config_.sliding_window = window;
    if (*sliding == 0 || *sliding == config_.layers) return absl::OkStatus();
    return Unsupported(
        fmt::format("sliding_window on {} of {} layers is not supported; on all or none is", *sliding, config_.layers));
  }

  absl::StatusOr<int> CountSlidingLayers(bool qwen) {
    if (const json* types = fields_.Find("layer_types")) return CountLayerTypes(*types);
    if (!qwen) return config_.layers;
    // Qwen2's windows begin at the layer max_window_layers, whatever the name suggests.
    const int first = fields_.Int("max_window_layers", 28);
    return config_.layers - std::clamp(first, 0, config_.layers);
  }

  absl::StatusOr<int> CountLayerTypes(const json& types) const {
    int sliding = 0;
    if (!types.is_array() || types.size() != static_cast<size_t>(config_.layers)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: field 'layer_types' must be a list of {} names", path_, config_.layers));
    }
    for (const json& type : types) {
      const std::string name = type.is_string() ? type.get<std::string>() : "of unknown kind";
      if (name != "full_attention" && name != "sliding_attention") {
        return Unsupported(fmt::format("layer type '{}' is not supported", name));
      }
      sliding += name == "sliding_attention";
    }
    return sliding;
  }

  const std::string path_;
  JsonFields fields_;
  ModelConfig config_;
};

absl::Status AddGenerationEos(const HuggingFaceConfigFiles& files, ModelConfig& config) {
  if (files.generation_config_json.empty()) return absl::OkStatus();
  const auto root = ParseJsonObject(files.generation_config_json, files.generation_config_path, kMaxConfigBytes);
  if (!root.ok()) return root.status();
  JsonFields fields(*root, files.generation_config_path);
  for (const int32_t id : fields.Ids("eos_token_id")) {
    auto& ids = config.eos_token_ids;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return fields.status();
}

}  // namespace

absl::StatusOr<ModelConfig> ParseHuggingFaceConfig(const HuggingFaceConfigFiles& files) {
  const auto root = ParseJsonObject(files.config_json, files.config_path, kMaxConfigBytes);
  if (!root.ok()) return root.status();
  auto config = ConfigReader(*root, files.config_path).Run();
  if (!config.ok()) return config;
  if (auto status = AddGenerationEos(files, *config); !status.ok()) return status;
  if (auto status = ValidateModelConfig(*config); !status.ok()) {
    return absl::Status(status.code(), fmt::format("{}: {}", files.config_path, std::string(status.message())));
  }
  return config;
}

}  // namespace headstart
