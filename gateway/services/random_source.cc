#include "gateway/services/random_source.h"

#include <memory>
#include <random>

#include "engine/mutex.h"

namespace headstart {
namespace {

class SeededRandom {
 public:
  uint64_t Next() {
    MutexLock lock(mutex_);
    return engine_();
  }

 private:
  Mutex mutex_;
  std::mt19937_64 engine_ ABSL_GUARDED_BY(mutex_){(uint64_t{std::random_device{}()} << 32) | std::random_device{}()};
};

}  // namespace

RandomSource SystemRandom() {
  return [random = std::make_shared<SeededRandom>()] { return random->Next(); };
}

}  // namespace headstart
