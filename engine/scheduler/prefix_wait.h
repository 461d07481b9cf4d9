// PrefixWait: whether a request should wait for a running one that computes what they share, and for how long.
//
// Thread-safety: none; one per waiting request.
//
// A request begins to wait when another's claim covers at least a whole block more than is cached; it waits until the
// claim is gone, since the last few tokens come with the next step, and as long as the cached part grows. When it has
// not grown for `patience`, the request runs by itself and waits no more.

#ifndef HEADSTART_ENGINE_SCHEDULER_PREFIX_WAIT_H_
#define HEADSTART_ENGINE_SCHEDULER_PREFIX_WAIT_H_

#include <cstdint>

#include "absl/time/time.h"
#include "prefix_store/prefix_store.h"

namespace headstart {

class PrefixWait {
 public:
  // Whether to wait now, given what the cache has. Called at every step that might start the request.
  bool ShouldWait(const Match& match, int block_tokens, absl::Time now, absl::Duration patience) {
    const int64_t worth_waiting_for = waiting_ ? 1 : block_tokens;
    waiting_ = false;
    if (out_of_patience_ || match.pending_tokens < worth_waiting_for) return false;
    if (match.matched_tokens > matched_) {
      matched_ = match.matched_tokens;
      progress_at_ = now;
    }
    out_of_patience_ = now - progress_at_ >= patience;
    waiting_ = !out_of_patience_;
    return waiting_;
  }

  bool waiting() const { return waiting_; }

 private:
  int64_t matched_ = -1;
  absl::Time progress_at_;
  bool waiting_ = false;
  bool out_of_patience_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_PREFIX_WAIT_H_
