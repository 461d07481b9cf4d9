// Cut: what min-p, top-k and top-p leave of a distribution. Tokens are ranked by logit, ties by the lower id, and each
// filter keeps a head of that ranking; so together they are one place in it, and nothing needs sorting to say which
// token is in.
//
// Thread-safety: pure functions over the caller's scratch.

#ifndef HEADSTART_ENGINE_SAMPLING_CUT_H_
#define HEADSTART_ENGINE_SAMPLING_CUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/sampling/mass.h"

namespace headstart {

struct CutCandidate {
  float logit = 0;
  int32_t id = 0;
};

struct CutLimits {
  float temperature = 1;  // above 0
  int top_k = 0;          // 0: off
  double top_p = 1;
  double min_p = 0;
};

// min-p, then top-k, then top-p of what these leave. Takes time linear in the vocabulary, by selection; `scratch` grows
// with the tokens that are in question, not with the vocabulary. REQUIRES: logits are finite and not empty.
Cut FindCut(std::span<const float> logits, const CutLimits& limits, std::vector<CutCandidate>& scratch);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SAMPLING_CUT_H_
