// Scratch: memory that is kept from step to step and grows when more is asked for, so that steps of a size seen before
// allocate nothing. Contents are undefined after Reserve.
//
// Thread-safety: none.

#ifndef HEADSTART_ENGINE_BACKEND_CPU_SCRATCH_H_
#define HEADSTART_ENGINE_BACKEND_CPU_SCRATCH_H_

#include <cstddef>
#include <memory>
#include <new>

namespace headstart {

template <typename T>
class Scratch {
 public:
  // At least `count` values, aligned to a cache line.
  T* Reserve(size_t count) {
    if (count > capacity_) {
      const size_t grown = count + count / 2;
      values_.reset(static_cast<T*>(::operator new(grown * sizeof(T), kAlignment)));
      capacity_ = grown;
    }
    return values_.get();
  }
  T* data() { return values_.get(); }
  const T* data() const { return values_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* values) const { ::operator delete(values, kAlignment); }
  };

  std::unique_ptr<T, Free> values_;
  size_t capacity_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_BACKEND_CPU_SCRATCH_H_
