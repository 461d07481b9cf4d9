// Connection: one client's connection, from its first byte to its last.
//
//   handshake ──▶ idle ──(a byte)──▶ head ──▶ body ──▶ answering ──▶ idle ...
//                   └── a deadline, an error ──▶ closed        └──(the last answer)──▶ lingering ──▶ closed
//
// Thread-safety: all on the one thread that runs its executor. What comes from elsewhere (handlers, the server) is
// posted there.
// Ownership: held by what it waits for, and by the server's list until it is closed.
//
// It reads all the time, also while it answers: so it hears at once when the client goes. What the client sends on
// ahead is kept up to a bound, and answered in its turn. A closing connection first drops what the client still sends,
// for a while: closing with bytes unread would take the answer's last bytes from the client.

#ifndef HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_H_
#define HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_H_

#include <array>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/http_server.h"
#include "gateway/http/internal/answer.h"
#include "gateway/http/internal/io_threads.h"
#include "gateway/http/internal/request_reader.h"
#include "gateway/http/internal/transport.h"
#include "gateway/http/router.h"

namespace headstart {

// What all connections of a server share.
struct ConnectionContext {
  HttpServerOptions options;
  HttpRouter router;
  std::atomic<bool> stopping = false;  // every answer is its connection's last
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `threads` run the executor, and live as long as anything may be posted to it. `closed` is called once. A connection
  // that is `surplus` hears 503 to whatever it asks.
  Connection(std::shared_ptr<IoThreads> threads, boost::asio::any_io_executor executor,
             std::unique_ptr<Transport> transport, std::string peer, std::shared_ptr<const ConnectionContext> context,
             bool surplus, std::function<void(Connection&)> closed);

  void Start();
  // Closes as soon as nothing is being answered.
  void Drain();
  void Abort();
  const boost::asio::any_io_executor& executor() const { return executor_; }

 private:
  enum class State { kHandshake, kIdle, kHead, kBody, kAnswering, kLingering, kClosed };

  void OnHandshake(boost::system::error_code error);
  void Read();
  void OnRead(boost::system::error_code error, size_t bytes);
  void OnEndOfInput();

  void Advance();
  bool BeginRequest();
  void OnHead();
  void OnRequest();
  void Refuse(HttpResponse answer);
  std::optional<HttpResponse> Preliminary(const HttpRequest& request) const;
  std::optional<HttpResponse> Unwanted(const HttpRequest& head) const;
  std::shared_ptr<Answer> MakeAnswer(HttpRequest request, bool keep_alive, bool is_http_1_0);

  void Flush();
  void WriteSome();
  void OnWritten(boost::system::error_code error, size_t bytes);
  void OnAnswered();
  void Linger();

  void SetDeadline(absl::Duration patience);
  void OnDeadline();
  std::function<void()> Posted(void (Connection::*method)());

  const HttpServerOptions& options() const { return context_->options; }

  const std::shared_ptr<IoThreads> threads_;
  const boost::asio::any_io_executor executor_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_;
  const std::shared_ptr<const ConnectionContext> context_;
  const bool surplus_;
  std::function<void(Connection&)> closed_;
  CertificateNames certificate_;

  State state_ = State::kHandshake;
  boost::asio::steady_timer read_timer_;
  boost::asio::steady_timer write_timer_;

  std::array<char, 16 << 10> chunk_;
  std::string input_;  // read, and not taken by a request yet
  bool reading_ = false;
  bool input_ended_ = false;
  int64_t dropped_bytes_ = 0;
  std::optional<RequestReader> reader_;

  std::string interim_;  // "100 Continue", before the answer
  std::shared_ptr<Answer> answer_;
  std::string output_;  // on its way out
  size_t output_written_ = 0;
  size_t output_counted_ = 0;  // of output_: the answer's own bytes, at its end
  bool output_completes_ = false;
  bool writing_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_INTERNAL_CONNECTION_H_
