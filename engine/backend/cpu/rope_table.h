// RopeTable: cosines and sines of one step's positions, computed in double and rounded once, so that they are a
// function of the position alone.
//
// Thread-safety: immutable between Set and Fill; Fill drives the pool.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_ROPE_TABLE_H_
#define HEADSTART_ENGINE_BACKEND_CPU_ROPE_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "engine/backend/backend.h"
#include "engine/backend/cpu/scratch.h"
#include "engine/backend/thread_pool.h"

namespace headstart {

class RopeTable {
 public:
  absl::Status Set(const RopeSpec& spec);
  void Fill(std::span<const int32_t> positions, ThreadPool& pool);

  RopePairing pairing() const { return pairing_; }
  int pairs() const { return static_cast<int>(frequencies_.size()); }
  // [pairs()], of the step's token `index`.
  const float* Cosines(int index) const { return values_.data() + int64_t{index} * pairs() * 2; }
  const float* Sines(int index) const { return Cosines(index) + pairs(); }

 private:
  RopePairing pairing_ = RopePairing::kHalves;
  double magnitude_ = 1;
  std::vector<double> frequencies_;
  Scratch<float> values_;  // [tokens][cosine | sine][pairs]
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_ROPE_TABLE_H_
