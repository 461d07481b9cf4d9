#include "engine/model/gguf_config.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/model/gguf_fields.h"
#include "engine/text/gguf_tokenizer.h"
#include "fmt/format.h"

namespace headstart {
namespace {

const TensorView* FindTensor(const GgufFile& file, std::string_view name) {
  const auto& tensors = file.tensors();
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

class GgufConfigReader {
 public:
  explicit GgufConfigReader(const GgufFile& file) : file_(file), fields_(file) {}

  absl::StatusOr<ModelConfig> Run() {
    for (const auto step :
         {&GgufConfigReader::RefuseSplit, &GgufConfigReader::ReadArchitecture, &GgufConfigReader::ReadSizes,
          &GgufConfigReader::ReadScaling, &GgufConfigReader::ReadDivisors, &GgufConfigReader::ReadVocabulary}) {
      if (auto status = (this->*step)(); !status.ok()) return status;
      if (!fields_.status().ok()) return fields_.status();
    }
    return config_;
  }

 private:
  absl::Status Unsupported(std::string_view what) const {
    return absl::UnimplementedError(fmt::format("{}: {}", file_.path(), what));
  }

  // The key of this architecture: "llama.block_count".
  std::string Key(std::string_view name) const { return fmt::format("{}.{}", prefix_, name); }

  absl::Status RefuseSplit() {
    const int parts = fields_.Int("split.count", 0);
    if (parts <= 1) return absl::OkStatus();
    return Unsupported(
        fmt::format("one of {} files of a split model, which is not supported: join them with "
                    "llama-gguf-split --merge",
                    parts));
  }

  absl::Status ReadArchitecture() {
    prefix_ = fields_.String("general.architecture");
    config_.name = fields_.String("general.name", "");
    if (prefix_ == "llama") {
      config_.architecture = Architecture::kLlama;  // Mistral is stored as llama, too
      config_.rope_adjacent_pairs = true;
    } else if (prefix_ == "qwen2") {
      config_.architecture = Architecture::kQwen2;
      config_.attention_bias = true;
    } else if (prefix_ == "qwen3") {
      config_.architecture = Architecture::kQwen3;
      config_.qk_norm = true;
    } else if (fields_.status().ok()) {
      return Unsupported(
          fmt::format("general.architecture '{}' is not supported; llama, qwen2 and qwen3 are", prefix_));
    }
    return absl::OkStatus();
  }

  absl::Status ReadSizes() {
    if (fields_.Int(Key("expert_count"), 0) > 0) return Unsupported("mixtures of experts are not supported");
    config_.layers = fields_.Int(Key("block_count"));
    config_.hidden_size = fields_.Int(Key("embedding_length"));
    config_.intermediate_size = fields_.Int(Key("feed_forward_length"));
    config_.heads = fields_.Int(Key("attention.head_count"));
    config_.kv_heads = fields_.Int(Key("attention.head_count_kv"), config_.heads);
    config_.max_positions = fields_.Int(Key("context_length"));
    config_.rms_norm_epsilon = static_cast<float>(fields_.Number(Key("attention.layer_norm_rms_epsilon")));
    config_.rope_theta = fields_.Number(Key("rope.freq_base"), 10000);
    config_.sliding_window = fields_.Int(Key("attention.sliding_window"), 0);
    config_.tied_embeddings = FindTensor(file_, "output.weight") == nullptr;
    return ReadHeadDim();
  }

  absl::Status ReadHeadDim() {
    config_.head_dim = fields_.Int(Key("attention.key_length"), config_.hidden_size / std::max(config_.heads, 1));
    const int value_length = fields_.Int(Key("attention.value_length"), config_.head_dim);
    const int rotated = fields_.Int(Key("rope.dimension_count"), config_.head_dim);
    for (const int length : {value_length, rotated}) {
      if (length == config_.head_dim) continue;
      return Unsupported(
          fmt::format("attention.key_length {}, attention.value_length {} and rope.dimension_count {} "
                      "differ, which is not supported",
                      config_.head_dim, value_length, rotated));
    }
    return absl::OkStatus();
  }

  absl::Status ReadScaling() {
    const std::string type = fields_.String(Key("rope.scaling.type"), "none");
    RopeScaling& scaling = config_.rope_scaling;
    if (type == "none") return absl::OkStatus();
    if (type != "linear" && type != "yarn") {
      return Unsupported(fmt::format("rope.scaling.type '{}' is not supported; none, linear and yarn are", type));
    }
    scaling.kind = type == "linear" ? RopeScalingKind::kLinear : RopeScalingKind::kYarn;
    scaling.factor = fields_.Number(Key("rope.scaling.factor"));
    scaling.original_max_positions = fields_.Int(Key("rope.scaling.original_context_length"), config_.max_positions);
    scaling.beta_fast = fields_.Number(Key("rope.scaling.yarn_beta_fast"), 32);
    scaling.beta_slow = fields_.Number(Key("rope.scaling.yarn_beta_slow"), 1);
    scaling.attention_factor = fields_.Number(Key("rope.scaling.yarn_attn_factor"), 0);
    const bool usual = fields_.Number(Key("rope.scaling.attn_factor"), 1) == 1 &&
                       fields_.Number(Key("rope.scaling.yarn_ext_factor"), 1) == 1 &&
                       fields_.Number(Key("rope.scaling.yarn_log_multiplier"), 0) == 0;
    if (!usual)
      return Unsupported("rope.scaling.attn_factor, yarn_ext_factor and yarn_log_multiplier are not supported");
    return absl::OkStatus();
  }

  absl::Status ReadDivisors() {
    const TensorView* divisors = FindTensor(file_, "rope_freqs.weight");
    if (divisors == nullptr) return absl::OkStatus();
    if (divisors->dtype != DType::kF32 || divisors->shape.size() != 1) {
      return absl::InvalidArgumentError(fmt::format("{}: rope_freqs.weight must be one row of F32", file_.path()));
    }
    auto& values = config_.rope_scaling.divisors;
    values.resize(divisors->bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), divisors->bytes.data(), divisors->bytes.size());
    return absl::OkStatus();
  }

  // The vocabulary's size is that of the embedding table: metadata may be missing or padded.
  absl::Status ReadVocabulary() {
    const TensorView* table = FindTensor(file_, "token_embd.weight");
    const int64_t rows = table == nullptr || table->shape.empty() ? 0 : table->shape.front();
    config_.vocab_size = static_cast<int>(std::min<int64_t>(rows, std::numeric_limits<int>::max()));
    for (const char* key : {"eos", "eot", "eom"}) {
      const auto id = fields_.Id(fmt::format("tokenizer.ggml.{}_token_id", key));
      auto& ids = config_.eos_token_ids;
      if (id.has_value() && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
    }
    if (table != nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("{}: tensor 'token_embd.weight' is missing", file_.path()));
  }

  const GgufFile& file_;
  GgufFields fields_;
  std::string prefix_;
  ModelConfig config_;
};

std::optional<bool> OptionalBool(GgufFields& fields, std::string_view key) {
  return fields.Has(key) ? std::optional(fields.Bool(key, false)) : std::nullopt;
}

GgufTokenizerMetadata ReadTokenizerMetadata(GgufFields& fields) {
  return {
      .model = fields.String("tokenizer.ggml.model"),
      .pre = fields.String("tokenizer.ggml.pre", ""),
      .tokens = fields.Strings("tokenizer.ggml.tokens"),
      .scores = fields.Floats("tokenizer.ggml.scores"),
      .token_types = fields.Ints("tokenizer.ggml.token_type"),
      .merges = fields.Strings("tokenizer.ggml.merges"),
      .bos_token_id = fields.Id("tokenizer.ggml.bos_token_id"),
      .eos_token_id = fields.Id("tokenizer.ggml.eos_token_id"),
      .unknown_token_id = fields.Id("tokenizer.ggml.unknown_token_id"),
      .add_bos_token = OptionalBool(fields, "tokenizer.ggml.add_bos_token"),
      .add_eos_token = OptionalBool(fields, "tokenizer.ggml.add_eos_token"),
      .add_space_prefix = OptionalBool(fields, "tokenizer.ggml.add_space_prefix"),
  };
}

}  // namespace

absl::StatusOr<ModelConfig> ReadGgufConfig(const GgufFile& file) {
  auto config = GgufConfigReader(file).Run();
  if (!config.ok()) return config;
  if (auto status = ValidateModelConfig(*config); !status.ok()) {
    return absl::Status(status.code(), fmt::format("{}: {}", file.path(), std::string(status.message())));
  }
  return config;
}

absl::StatusOr<TokenizerSpec> ReadGgufTokenizer(const GgufFile& file) {
  GgufFields fields(file);
  const GgufTokenizerMetadata metadata = ReadTokenizerMetadata(fields);
  if (!fields.status().ok()) return fields.status();
  auto spec = TokenizerSpecFromGguf(metadata);
  if (spec.ok()) return spec;
  return absl::Status(spec.status().code(), fmt::format("{}: {}", file.path(), std::string(spec.status().message())));
}

absl::StatusOr<std::string> ReadGgufChatTemplate(const GgufFile& file) {
  GgufFields fields(file);
  std::string text = fields.String("tokenizer.chat_template", "");
  if (!fields.status().ok()) return fields.status();
  return text;
}

}  // namespace headstart
