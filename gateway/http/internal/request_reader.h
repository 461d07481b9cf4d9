// RequestReader: bytes of a connection, in whatever pieces they come, into one HttpRequest. The one place that knows
// Boost.Beast.
//
// Thread-safety: none; one connection's.
// Errors: Feed says kFailed, and problem() then has the status and the sentence to answer with; the connection cannot
// go on after that.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_REQUEST_READER_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_REQUEST_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/http/http_message.h"

namespace headstart {

class RequestReader {
 public:
  struct Limits {
    int64_t max_header_bytes;
    int64_t max_body_bytes;
  };
  // A chunk's header, or the trailer, that is longer than this is refused.
  static constexpr size_t kMaxUnparsedBytes = 64 << 10;

  explicit RequestReader(Limits limits);
  ~RequestReader();

  enum class Progress {
    kNeedMore,
    kHead,  // said once: the headers are complete and a body follows
    kDone,
    kFailed,
  };
  struct Fed {
    Progress progress;
    size_t bytes;  // taken of the input; the rest is to be fed again, with what follows
  };
  // REQUIRES: neither kDone nor kFailed was said.
  Fed Feed(std::string_view input);

  // --- after kHead or kDone
  // Without its body. Peer and certificate are the connection's to add.
  HttpRequest& head() { return request_; }
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool expects_continue() const;

  struct Problem {
    int status = 400;
    std::string message;
  };
  const Problem& problem() const { return problem_; }

  // The head and the body. REQUIRES: kDone.
  HttpRequest Take();

 private:
  struct Parser;

  Fed Fail(int status, std::string message, size_t bytes);
  bool CheckHead();
  bool SplitTarget(std::string_view target);
  void TakeFields();

  const Limits limits_;
  std::unique_ptr<Parser> parser_;
  HttpRequest request_;
  Problem problem_;
  int64_t header_bytes_ = 0;
  bool head_said_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_REQUEST_READER_H_
