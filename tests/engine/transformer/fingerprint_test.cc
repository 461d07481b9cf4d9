#include "engine/transformer/fingerprint.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace headstart {
namespace {

// All that a fingerprint is made of.
struct Parts {
  Fingerprint weights = {.high = 1, .low = 2};
  ModelConfig config;
  KvShape shape;
  std::string numerics = "cpu/avx2/1";

  Fingerprint fingerprint() const { return FingerprintOf(DescribeForFingerprint(weights, config, shape, numerics)); }
};

TEST(Fingerprint, EachThingThatDecidesKvBytesChangesIt) {
  const std::function<void(Parts&)> kChanges[] = {
      [](Parts& p) { p.weights.high ^= 1; },
      [](Parts& p) { p.weights.low ^= 1; },
      [](Parts& p) { std::swap(p.weights.high, p.weights.low); },
      [](Parts& p) { p.config.architecture = Architecture::kQwen3; },
      [](Parts& p) { p.config.layers = 7; },
      [](Parts& p) { p.config.hidden_size = 7; },
      [](Parts& p) { p.config.intermediate_size = 7; },
      [](Parts& p) { p.config.heads = 7; },
      [](Parts& p) { p.config.kv_heads = 7; },
      [](Parts& p) { p.config.head_dim = 7; },
      [](Parts& p) { p.config.vocab_size = 7; },
      [](Parts& p) { p.config.rms_norm_epsilon = 1.0000001e-5f; },
      [](Parts& p) { p.config.rope_theta = 10000.000001; },
      [](Parts& p) { p.config.rope_scaling.kind = RopeScalingKind::kLlama3; },
      [](Parts& p) { p.config.rope_scaling.factor = 8; },
      [](Parts& p) { p.config.rope_scaling.low_freq_factor = 2; },
      [](Parts& p) { p.config.rope_scaling.high_freq_factor = 2; },
      [](Parts& p) { p.config.rope_scaling.original_max_positions = 8192; },
      [](Parts& p) { p.config.rope_scaling.beta_fast = 2; },
      [](Parts& p) { p.config.rope_scaling.beta_slow = 2; },
      [](Parts& p) { p.config.rope_scaling.attention_factor = 2; },
      [](Parts& p) { p.config.rope_adjacent_pairs = true; },
      [](Parts& p) { p.config.attention_bias = true; },
      [](Parts& p) { p.config.qk_norm = true; },
      [](Parts& p) { p.config.tied_embeddings = true; },
      [](Parts& p) { p.config.sliding_window = 4096; },
      [](Parts& p) { p.shape.dtype = DType::kF32; },
      [](Parts& p) { p.shape.block_tokens = 32; },
      [](Parts& p) { p.numerics = "cpu/avx512/1"; },
      [](Parts& p) { p.numerics = "cpu/avx2/2"; },
  };
  std::set<std::pair<uint64_t, uint64_t>> seen = {{Parts().fingerprint().high, Parts().fingerprint().low}};
  for (size_t i = 0; i < std::size(kChanges); ++i) {
    Parts parts;
    kChanges[i](parts);
    const Fingerprint fingerprint = parts.fingerprint();
    EXPECT_TRUE(seen.insert({fingerprint.high, fingerprint.low}).second) << "change " << i << " makes no difference";
  }
}

// A model that was renamed, or is served with a shorter context, keeps its cache.
TEST(Fingerprint, WhatDecidesNoKvByteLeavesItAlone) {
  Parts parts;
  parts.config.name = "another";
  parts.config.max_positions = 77;
  parts.config.eos_token_ids = {1, 2, 3};
  EXPECT_EQ(parts.fingerprint(), Parts().fingerprint());
}

// Caches on disk are found by it after an upgrade.
TEST(Fingerprint, IsStable) {
  EXPECT_EQ(Parts().fingerprint(), (Fingerprint{.high = 0xe8a07e3962c8a3ce, .low = 0x3eb4aee378baceee}));
}

}  // namespace
}  // namespace headstart
