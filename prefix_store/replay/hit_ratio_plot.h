// A drawing of hit ratio against capacity, as SVG that stands alone: one line for each curve, capacities on a
// logarithmic axis.
//
// Thread-safety: a pure function.

#ifndef HEADSTART_PREFIX_STORE_REPLAY_HIT_RATIO_PLOT_H_
#define HEADSTART_PREFIX_STORE_REPLAY_HIT_RATIO_PLOT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headstart {

struct HitRatioPoint {
  int64_t capacity_blocks = 0;
  double block_hit_ratio = 0;
};

struct HitRatioCurve {
  std::string name;
  std::vector<HitRatioPoint> points;  // by rising capacity
};

// At most six curves differ in colour. REQUIRES: capacities are at least 1.
std::string HitRatioPlot(std::string_view title, std::span<const HitRatioCurve> curves);

}  // namespace headstart

#endif  // HEADSTART_PREFIX_STORE_REPLAY_HIT_RATIO_PLOT_H_
