// HttpServer: an HTTP/1.1 server for a few routes and many streams. A connection costs memory, not a thread: a few I/O
// threads serve them all, and handlers give work that takes time to others.
//
// Thread-safety: every method may be called from any thread but the server's own.
// Ownership: owns router and threads. Exchanges may outlive it; what is written to them then goes nowhere. Destruction
// is Shutdown without grace.
// Errors: Start gives ALREADY_EXISTS when the address is in use, INVALID_ARGUMENT for an address that is none or a
// certificate that does not go with its key.
//
// What a client can make it hold is bounded: connections, a request's headers and body, the time that each may take to
// arrive, and the bytes of answers left unread.
//
//   HttpRouter router;
//   router.Add("GET", "/metrics", handler);
//   auto server = HttpServer::Start({.listen = "127.0.0.1:8780"}, std::move(router));
//   (*server)->SetServing(false);             // /readyz says 503
//   (*server)->Shutdown(absl::Seconds(5));    // what runs may finish; then it is cut off

#ifndef HEADSTART_GATEWAY_HTTP_HTTP_SERVER_H_
#define HEADSTART_GATEWAY_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gateway/http/router.h"
#include "gateway/tls/tls_material.h"

namespace headstart {

struct HttpServerOptions {
  // --- behaviour
  std::string listen = "127.0.0.1:8780";  // host:port (port 0 picks a free one) or unix:/path
  std::string cors_origin = {};           // whose scripts may read answers: an origin, or "*"; empty: nobody's
  // Only for names of this machine: refuses a Host that is none, so that no web site can have its visitors' browsers
  // call a server that asks for no credential (DNS rebinding).
  bool local_hosts_only = false;
  TlsSource tls = nullptr;  // null: plain text. Should it ever be broken, the last that was not is used
  // Sees each request whose body is still to come, without it. What it returns is the answer, and the body is not read:
  // so nobody without a credential makes the server hold megabytes. On an I/O thread, and must not block.
  std::function<std::optional<HttpResponse>(const HttpRequest& head)> refuse = nullptr;

  // --- limits
  int max_connections = 1024;
  int64_t max_header_bytes = 32 << 10;
  int64_t max_body_bytes = 16 << 20;
  int64_t max_unread_bytes = 16 << 20;                // of a streamed answer; slower readers are cut off
  absl::Duration header_timeout = absl::Seconds(10);  // from a request's first byte to its last header; TLS' handshake
  absl::Duration body_timeout = absl::Seconds(60);    // from the last header to the last byte
  absl::Duration idle_timeout = absl::Seconds(75);    // from an answer to the next request
  absl::Duration write_timeout = absl::Seconds(30);   // without a byte of an answer being taken

  // --- performance
  int io_threads = 2;

  std::function<absl::Time()> now = absl::Now;  // for the header Date
  // Hears in one sentence of what an operator should know. From any thread.
  std::function<void(const std::string&)> on_event = nullptr;
};

// INVALID_ARGUMENT naming the flag of the first value that makes no sense. Says nothing of whether the address is free.
absl::Status CheckHttpServerOptions(const HttpServerOptions& options);

class HttpServer {
 public:
  // Adds /healthz, which says 200 while the server lives, and /readyz, which says 503 when it should get no new
  // requests.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options, HttpRouter router);
  virtual ~HttpServer() = default;

  // With the port that was chosen, such as "127.0.0.1:8780".
  virtual const std::string& address() const = 0;
  // Such as "http://127.0.0.1:8780"; of a Unix socket, its address.
  virtual std::string url() const = 0;

  virtual void SetServing(bool serving) = 0;

  // Takes no new connections and no new requests; returns when what runs has been answered, or at the end of `grace`,
  // when it is cut off. Calling it again is no fault.
  virtual void Shutdown(absl::Duration grace) = 0;
};

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_HTTP_SERVER_H_
