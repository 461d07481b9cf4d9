// HttpExchange: one request, and the answer to it: whole, or piece by piece.
//
// Thread-safety: every method may be called from any thread, one call at a time.
// Ownership: the handler that gets it keeps it until the answer is complete. An exchange that is let go of before is
// answered with 500, or, when its answer had begun, cut off: no client waits for nothing.
// Errors: there are none to handle. What a client that is gone would have been sent is dropped.
//
//   exchange->StartStream({.content_type = "text/event-stream"});
//   exchange->OnGone([session] { session->Cancel(); });
//   exchange->Write("data: 1\n\n");
//   exchange->Finish();

#ifndef HEADSTART_GATEWAY_HTTP_HTTP_EXCHANGE_H_
#define HEADSTART_GATEWAY_HTTP_HTTP_EXCHANGE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/http/http_message.h"

namespace headstart {

class HttpExchange {
 public:
  virtual ~HttpExchange() = default;

  virtual const HttpRequest& request() const = 0;

  // The request's body, which request() has no longer from then on: what streams for minutes need not keep it so long.
  virtual std::string TakeBody() = 0;

  // A whole answer. REQUIRES: nothing was sent yet.
  virtual void Send(HttpResponse response) = 0;

  // The answer's status and headers; its body is empty, and comes in pieces. REQUIRES: nothing was sent yet.
  virtual void StartStream(const HttpResponse& head) = 0;

  // REQUIRES: between StartStream and Finish. False when the client is gone, or has left more than
  // HttpServerOptions::max_unread_bytes unread and is cut off now: nothing more is wanted.
  virtual bool Write(std::string_view bytes) = 0;

  // REQUIRES: StartStream came before.
  virtual void Finish() = 0;

  // `gone` is called once, on an I/O thread, when the client goes away or is cut off before the answer was complete; at
  // once if it has already. It must return at once. A client that only ends its own side counts as gone.
  virtual void OnGone(std::function<void()> gone) = 0;
};

// Runs on an I/O thread, and must not block.
using HttpHandler = std::function<void(std::shared_ptr<HttpExchange> exchange)>;

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_HTTP_HTTP_EXCHANGE_H_
