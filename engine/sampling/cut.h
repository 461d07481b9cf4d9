// Cut: what min-p, top-k and top-p leave of a distribution. Tokens are ranked by logit, ties by the lower id, and each
// filter keeps a head of that ranking; so together they are one place in it, and nothing needs sorting to say which
// token is in.
//
// Thread-safety: pure functions over the caller's scratch.

#ifndef HEADSTART_ENGINE_SAMPLING_CUT_H_
#define HEADSTART_ENGINE_SAMPLING_CUT_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headstart {

// The last token that is kept, in rank.
struct Cut {
  float logit = -std::numeric_limits<float>::infinity();
  int32_t id = std::numeric_limits<int32_t>::max();

  bool Keeps(float other_logit, int32_t other_id) const {
    return other_logit > logit || (other_logit == logit && other_id <= id);
  }
};

struct CutCandidate {
  float logit = 0;
  int32_t id = 0;
  double weight = 0;  // probability up to a common factor
};

struct CutLimits {
  double temperature = 1;  // above 0
  int top_k = 0;           // 0: off
  double top_p = 1;
  double min_p = 0;

  bool IsOff() const { return top_k == 0 && top_p >= 1 && min_p <= 0; }
};

// Probability of a logit up to a common factor: 1 for the largest.
double WeightOf(float logit, float largest, double temperature);

// min-p, then top-k, then top-p of what these leave. Takes time linear in the vocabulary, by selection.
// REQUIRES: logits are finite and not empty.
Cut FindCut(std::span<const float> logits, const CutLimits& limits, std::vector<CutCandidate>& scratch);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_CUT_H_
