#include "gateway/http/internal/io_threads.h"

namespace headstart {

IoThreads::IoThreads(int threads) {
  for (int i = 0; i < threads; ++i) {
    auto io = std::make_unique<IoThread>();
    io->thread = std::thread([context = &io->context] { context->run(); });
    threads_.push_back(std::move(io));
  }
}

void IoThreads::Join() {
  for (auto& io : threads_) io->work.reset();
  for (auto& io : threads_) {
    if (io->thread.joinable()) io->thread.join();
  }
}

}  // namespace headstart
