#include "gateway/http/http_server.h"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gateway/http/internal/acceptor.h"
#include "gateway/http/internal/connection.h"
#include "gateway/http/internal/connection_list.h"
#include "gateway/http/internal/io_threads.h"
#include "gateway/http/internal/tls_contexts.h"
#include "gateway/server/listen_address.h"

namespace headstart {
namespace {

// Beyond the most that are served, so many more are told so; the rest is closed without a word.
constexpr size_t kSurplusConnections = 64;

// Of what is cut off: it only has to notice.
constexpr absl::Duration kCutGrace = absl::Seconds(5);

void AnswerHealthz(const std::shared_ptr<HttpExchange>& exchange) {
  exchange->Send({.content_type = "text/plain", .body = "ok\n"});
}

class HttpServerImpl final : public HttpServer {
 public:
  HttpServerImpl(const HttpServerOptions& options, HttpRouter router)
      : context_(std::make_shared<ConnectionContext>()), threads_(std::make_shared<IoThreads>(options.io_threads)) {
    context_->options = options;
    router.Add("GET", "/healthz", AnswerHealthz);
    router.Add("GET", "/readyz", [this](const std::shared_ptr<HttpExchange>& exchange) { AnswerReadyz(*exchange); });
    context_->router = std::move(router);
    if (options.tls) tls_.emplace(options.tls, options.on_event);
  }

  ~HttpServerImpl() override { Shutdown(absl::ZeroDuration()); }

  absl::Status Listen();
  const std::string& address() const override { return address_text_; }
  std::string url() const override {
    if (address_.is_unix_socket) return address_text_;
    return fmt::format("{}://{}", tls_ ? "https" : "http", address_text_);
  }
  void SetServing(bool serving) override { serving_ = serving; }
  void Shutdown(absl::Duration grace) override;

 private:
  void AnswerReadyz(HttpExchange& exchange) const {
    const bool ready = serving_ && !context_->stopping;
    exchange.Send(
        {.status = ready ? 200 : 503, .content_type = "text/plain", .body = ready ? "ready\n" : "stopping\n"});
  }
  void TakeConnection(boost::asio::io_context& io, StreamSocket socket, std::string peer);
  std::unique_ptr<Transport> MakeTransport(StreamSocket socket);
  void ForEachConnection(void (Connection::*method)());

  const std::shared_ptr<ConnectionContext> context_;
  std::atomic<bool> serving_ = true;
  std::optional<TlsContexts> tls_;
  ListenAddress address_;
  std::string address_text_;
  ConnectionList connections_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  const std::shared_ptr<IoThreads> threads_;
};

absl::Status HttpServerImpl::Listen() {
  if (tls_) {
    if (auto context = tls_->Current(); !context.ok()) return context.status();
  }
  auto address = ParseListenAddress(context_->options.listen);
  if (!address.ok()) return address.status();
  address_ = *std::move(address);
  if (auto status = CheckCanListen(address_, "--http-listen"); !status.ok()) return status;
  auto acceptors = Acceptor::Listen(threads_->context(0), address_);
  if (!acceptors.ok()) return acceptors.status();
  acceptors_ = *std::move(acceptors);
  address_text_ = address_.ToString();
  for (const auto& acceptor : acceptors_) {
    acceptor->Start([this]() -> boost::asio::io_context& { return threads_->Next(); },
                    [this](boost::asio::io_context& io, StreamSocket socket, std::string peer) {
                      TakeConnection(io, std::move(socket), std::move(peer));
                    });
  }
  return absl::OkStatus();
}

void HttpServerImpl::TakeConnection(boost::asio::io_context& io, StreamSocket socket, std::string peer) {
  const auto limit = static_cast<size_t>(context_->options.max_connections);
  const size_t open = connections_.size();
  if (context_->stopping || open >= limit + kSurplusConnections) return;
  auto transport = MakeTransport(std::move(socket));
  if (transport == nullptr) return;
  auto connection = std::make_shared<Connection>(
      threads_, io.get_executor(), std::move(transport), std::move(peer), context_,
      /*surplus=*/open >= limit, [this](Connection& closed) { connections_.Remove(closed); });
  connections_.Add(connection);
  boost::asio::post(io, [connection] { connection->Start(); });
}

std::unique_ptr<Transport> HttpServerImpl::MakeTransport(StreamSocket socket) {
  if (!tls_) return PlainTransport(std::move(socket));
  auto context = tls_->Current();
  if (!context.ok()) return nullptr;
  return TlsTransport(std::move(socket), *std::move(context));
}

void HttpServerImpl::ForEachConnection(void (Connection::*method)()) {
  for (const auto& connection : connections_.All()) {
    boost::asio::post(connection->executor(), [connection, method] { (connection.get()->*method)(); });
  }
}

void HttpServerImpl::Shutdown(absl::Duration grace) {
  context_->stopping = true;
  for (const auto& acceptor : acceptors_) acceptor->Close();
  ForEachConnection(&Connection::Drain);
  if (!connections_.WaitUntilEmpty(grace)) {
    ForEachConnection(&Connection::Abort);
    connections_.WaitUntilEmpty(kCutGrace);
  }
  threads_->Join();
  if (address_.is_unix_socket && !acceptors_.empty()) unlink(address_.host.c_str());
  acceptors_.clear();
}

absl::Status OutOfRange(std::string_view flag, std::string_view range) {
  return absl::InvalidArgumentError(fmt::format("{} is out of its range: {}", flag, range));
}

absl::Status CheckTimeouts(const HttpServerOptions& options) {
  const std::pair<std::string_view, absl::Duration> timeouts[] = {{"--http-header-timeout", options.header_timeout},
                                                                  {"--http-body-timeout", options.body_timeout},
                                                                  {"--http-idle-timeout", options.idle_timeout},
                                                                  {"--http-write-timeout", options.write_timeout}};
  for (const auto& [flag, timeout] : timeouts) {
    if (timeout < absl::Milliseconds(1)) return OutOfRange(flag, "at least 1ms");
  }
  return absl::OkStatus();
}

// As browsers write them, letter for letter: one with a path would never be theirs.
bool IsOrigin(std::string_view text) {
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0) return false;
  const std::string_view host = text.substr(scheme_end + 3);
  return !host.empty() && host.find_first_of("/?#@, \r\n") == std::string_view::npos;
}

}  // namespace

absl::Status CheckHttpServerOptions(const HttpServerOptions& options) {
  if (auto address = ParseListenAddress(options.listen); !address.ok()) return address.status();
  if (options.max_connections < 1) return OutOfRange("--http-max-connections", "at least 1");
  if (options.max_header_bytes < 1024 || options.max_header_bytes > 1 << 20) {
    return OutOfRange("--http-max-header-size", "1KiB to 1MiB");
  }
  if (options.max_body_bytes < 1) return OutOfRange("--http-max-body-size", "at least one byte");
  if (options.io_threads < 1) return OutOfRange("--http-io-threads", "at least 1");
  if (!options.cors_origin.empty() && options.cors_origin != "*" && !IsOrigin(options.cors_origin)) {
    return OutOfRange("--http-cors-origin", "one origin without a path, such as https://chat.example.com, or *");
  }
  return CheckTimeouts(options);
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options, HttpRouter router) {
  if (auto status = CheckHttpServerOptions(options); !status.ok()) return status;
  auto server = std::make_unique<HttpServerImpl>(options, std::move(router));
  if (auto status = server->Listen(); !status.ok()) return status;
  return server;
}

}  // namespace headstart
