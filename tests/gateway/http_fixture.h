// What tests of the HTTP server share: a server with a few routes, and a handler that leaves its exchanges to the test.

#ifndef HEADSTART_TESTS_GATEWAY_HTTP_FIXTURE_H_
#define HEADSTART_TESTS_GATEWAY_HTTP_FIXTURE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "fmt/format.h"
#include "gateway/http/http_server.h"
#include "gtest/gtest.h"
#include "tests/gateway/http_client.h"

namespace headstart::testing {

// Exchanges that a handler keeps for the test to answer.
class Kept {
 public:
  void Put(std::shared_ptr<HttpExchange> exchange) {
    MutexLock lock(mutex_);
    exchanges_.push_back(std::move(exchange));
    mutex_.NotifyAll();
  }
  std::shared_ptr<HttpExchange> Take() {
    MutexLock lock(mutex_);
    while (exchanges_.empty()) mutex_.Wait();
    auto first = std::move(exchanges_.front());
    exchanges_.erase(exchanges_.begin());
    return first;
  }

 private:
  Mutex mutex_;
  std::vector<std::shared_ptr<HttpExchange>> exchanges_ ABSL_GUARDED_BY(mutex_);
};

// Something that happens once, on another thread.
class Event {
 public:
  void Happen() {
    MutexLock lock(mutex_);
    happened_ = true;
    mutex_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!happened_) mutex_.Wait();
  }

 private:
  Mutex mutex_;
  bool happened_ ABSL_GUARDED_BY(mutex_) = false;
};

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() { options_.listen = "127.0.0.1:0"; }
  ~HttpServerTest() override { server_.reset(); }

  void Start() {
    HttpRouter router;
    router.Add("POST", "/echo", [](const std::shared_ptr<HttpExchange>& exchange) {
      exchange->Send({.content_type = "text/plain", .body = exchange->request().body});
    });
    router.Add("GET", "/page", [](const std::shared_ptr<HttpExchange>& exchange) {
      exchange->Send({.content_type = "text/html", .body = "<p>"});
    });
    router.Add("GET", "/where/*", [](const std::shared_ptr<HttpExchange>& exchange) {
      const HttpRequest& request = exchange->request();
      exchange->Send({.body = fmt::format("{}|{}|{}|{}", request.path, request.query, request.Header("x-word"),
                                          request.peer.substr(0, request.peer.rfind(':')))});
    });
    router.Add("GET", "/keep", [this](std::shared_ptr<HttpExchange> exchange) { kept_.Put(std::move(exchange)); });
    router.Add("GET", "/drop", [](const std::shared_ptr<HttpExchange>&) {});
    auto server = HttpServer::Start(options_, std::move(router));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  RawClient Connect() { return RawClient(server_->address()); }

  HttpServerOptions options_;
  Kept kept_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_HTTP_FIXTURE_H_
