#include "engine/transformer/fingerprint.h"

#include "fmt/format.h"
#include "xxhash.h"

namespace headstart {
namespace {

// Hexadecimal floats: exact.
std::string DescribeRope(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  return fmt::format(
      "rope={:a} kind={} factor={:a} low={:a} high={:a} original={} fast={:a} slow={:a} attention={:a} adjacent={}\n",
      config.rope_theta, static_cast<int>(scaling.kind), scaling.factor, scaling.low_freq_factor,
      scaling.high_freq_factor, scaling.original_max_positions, scaling.beta_fast, scaling.beta_slow,
      scaling.attention_factor, config.rope_adjacent_pairs);
}

std::string DescribeArchitecture(const ModelConfig& config) {
  return fmt::format(
      "architecture={} layers={} hidden={} intermediate={} heads={} kv_heads={} head_dim={} vocabulary={} epsilon={:a} "
      "bias={} qk_norm={} tied={} window={}\n",
      static_cast<int>(config.architecture), config.layers, config.hidden_size, config.intermediate_size, config.heads,
      config.kv_heads, config.head_dim, config.vocab_size, config.rms_norm_epsilon, config.attention_bias,
      config.qk_norm, config.tied_embeddings, config.sliding_window);
}

std::string DescribeText(std::string_view name, std::string_view value) {
  return fmt::format("{}={}:{}\n", name, value.size(), value);
}

}  // namespace

std::string DescribeForFingerprint(const Fingerprint& weights, const ModelConfig& config, const KvShape& shape,
                                   std::string_view numerics) {
  return fmt::format("weights={:016x}{:016x}\n", weights.high, weights.low) + DescribeArchitecture(config) +
         DescribeRope(config) +
         fmt::format("kv_dtype={} block_tokens={}\n", static_cast<int>(shape.dtype), shape.block_tokens) +
         DescribeText("numerics", numerics);
}

Fingerprint FingerprintOf(std::string_view description) {
  const XXH128_hash_t hash = XXH3_128bits(description.data(), description.size());
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace headstart
