#include "gateway/cli/load_progress.h"

#include <unistd.h>

#include <cstdio>

#include "fmt/format.h"
#include "gateway/config/byte_size.h"

namespace headstart {
namespace {

constexpr int64_t kWorthTelling = 64 << 20;  // a fraction of a second's loading

class ProgressPrinter {
 public:
  explicit ProgressPrinter(const std::string& model)
      : model_(model), terminal_(isatty(STDERR_FILENO) == 1), step_(terminal_ ? 1 : 10) {}

  void Show(int64_t done, int64_t total) {
    if (total < kWorthTelling) return;
    const auto percent = static_cast<int>(done * 100 / total);
    if (percent < next_) return;
    next_ = percent - percent % step_ + step_;
    const bool last = done == total;
    fmt::print(stderr, "{}loading {}: {}% of {}{}", terminal_ ? "\r" : "", model_, percent, ReadableByteSize(total),
               terminal_ && !last ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  const std::string model_;
  const bool terminal_;
  const int step_;
  int next_ = 0;
};

}  // namespace

LoadProgress PrintLoadProgress(const std::string& model) {
  return [printer = ProgressPrinter(model)](int64_t done, int64_t total) mutable { printer.Show(done, total); };
}

}  // namespace headstart
