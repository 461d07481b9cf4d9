#include "engine/model/weight_names.h"

#include <string_view>

#include "fmt/format.h"

namespace headstart {
namespace {

struct RoleNames {
  WeightRole role;
  bool in_layer;
  std::string_view hugging_face;  // inside "model.layers.N." where in_layer
  std::string_view gguf;          // inside "blk.N." where in_layer
};

constexpr RoleNames kNames[] = {
    {WeightRole::kEmbedding, false, "model.embed_tokens.weight", "token_embd.weight"},
    {WeightRole::kOutputNorm, false, "model.norm.weight", "output_norm.weight"},
    {WeightRole::kOutput, false, "lm_head.weight", "output.weight"},
    {WeightRole::kAttentionNorm, true, "input_layernorm.weight", "attn_norm.weight"},
    {WeightRole::kQuery, true, "self_attn.q_proj.weight", "attn_q.weight"},
    {WeightRole::kKey, true, "self_attn.k_proj.weight", "attn_k.weight"},
    {WeightRole::kValue, true, "self_attn.v_proj.weight", "attn_v.weight"},
    {WeightRole::kAttentionOutput, true, "self_attn.o_proj.weight", "attn_output.weight"},
    {WeightRole::kQueryBias, true, "self_attn.q_proj.bias", "attn_q.bias"},
    {WeightRole::kKeyBias, true, "self_attn.k_proj.bias", "attn_k.bias"},
    {WeightRole::kValueBias, true, "self_attn.v_proj.bias", "attn_v.bias"},
    {WeightRole::kQueryNorm, true, "self_attn.q_norm.weight", "attn_q_norm.weight"},
    {WeightRole::kKeyNorm, true, "self_attn.k_norm.weight", "attn_k_norm.weight"},
    {WeightRole::kMlpNorm, true, "post_attention_layernorm.weight", "ffn_norm.weight"},
    {WeightRole::kGate, true, "mlp.gate_proj.weight", "ffn_gate.weight"},
    {WeightRole::kUp, true, "mlp.up_proj.weight", "ffn_up.weight"},
    {WeightRole::kDown, true, "mlp.down_proj.weight", "ffn_down.weight"},
};

const RoleNames& NamesOf(WeightRole role) {
  for (const RoleNames& names : kNames) {
    if (names.role == role) return names;
  }
  return kNames[0];
}

void AddLayer(const ModelConfig& config, int layer, std::vector<WeightName>& weights) {
  const auto add = [&](WeightRole role) { weights.push_back({role, layer}); };
  add(WeightRole::kAttentionNorm);
  for (const auto role : {WeightRole::kQuery, WeightRole::kKey, WeightRole::kValue}) add(role);
  if (config.attention_bias) {
    for (const auto role : {WeightRole::kQueryBias, WeightRole::kKeyBias, WeightRole::kValueBias}) add(role);
  }
  if (config.qk_norm) {
    for (const auto role : {WeightRole::kQueryNorm, WeightRole::kKeyNorm}) add(role);
  }
  for (const auto role :
       {WeightRole::kAttentionOutput, WeightRole::kMlpNorm, WeightRole::kGate, WeightRole::kUp, WeightRole::kDown}) {
    add(role);
  }
}

}  // namespace

std::string WeightFileName(ModelFormat format, WeightName name) {
  const RoleNames& names = NamesOf(name.role);
  if (format == ModelFormat::kGguf) {
    return names.in_layer ? fmt::format("blk.{}.{}", name.layer, names.gguf) : std::string(names.gguf);
  }
  return names.in_layer ? fmt::format("model.layers.{}.{}", name.layer, names.hugging_face)
                        : std::string(names.hugging_face);
}

std::vector<int64_t> WeightShape(const ModelConfig& config, WeightRole role) {
  const int64_t hidden = config.hidden_size;
  const int64_t query = int64_t{config.heads} * config.head_dim;
  const int64_t key = int64_t{config.kv_heads} * config.head_dim;
  switch (role) {
    case WeightRole::kEmbedding:
    case WeightRole::kOutput:
      return {config.vocab_size, hidden};
    case WeightRole::kOutputNorm:
    case WeightRole::kAttentionNorm:
    case WeightRole::kMlpNorm:
      return {hidden};
    case WeightRole::kQuery:
      return {query, hidden};
    case WeightRole::kKey:
    case WeightRole::kValue:
      return {key, hidden};
    case WeightRole::kAttentionOutput:
      return {hidden, query};
    case WeightRole::kQueryBias:
      return {query};
    case WeightRole::kKeyBias:
    case WeightRole::kValueBias:
      return {key};
    case WeightRole::kQueryNorm:
    case WeightRole::kKeyNorm:
      return {config.head_dim};
    case WeightRole::kGate:
    case WeightRole::kUp:
      return {config.intermediate_size, hidden};
    case WeightRole::kDown:
      return {hidden, config.intermediate_size};
  }
  return {};
}

std::vector<WeightName> WeightsOf(const ModelConfig& config) {
  std::vector<WeightName> weights = {{WeightRole::kEmbedding}};
  for (int layer = 0; layer < config.layers; ++layer) AddLayer(config, layer, weights);
  weights.push_back({WeightRole::kOutputNorm});
  if (!config.tied_embeddings) weights.push_back({WeightRole::kOutput});
  return weights;
}

}  // namespace headstart
