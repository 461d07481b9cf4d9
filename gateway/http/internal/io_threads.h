// IoThreads: threads that each run an executor of their own. A connection stays on one of them all its life, so that it
// needs no locks.
//
// Thread-safety: Next and Join are called by the owner; executors may be posted to from any thread.
// Ownership: the executors live as long as this does.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_IO_THREADS_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_IO_THREADS_H_

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace headstart {

class IoThreads {
 public:
  explicit IoThreads(int threads);
  ~IoThreads() { Join(); }

  boost::asio::io_context& context(size_t index) { return threads_[index]->context; }
  size_t size() const { return threads_.size(); }
  // Each in its turn.
  boost::asio::io_context& Next() { return context(next_++ % threads_.size()); }

  // Returns when all that was started on them has ended.
  void Join();

 private:
  struct IoThread {
    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
  };

  std::vector<std::unique_ptr<IoThread>> threads_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_IO_THREADS_H_
