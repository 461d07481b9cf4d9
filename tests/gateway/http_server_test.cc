// The HTTP server over loopback sockets, byte by byte.

#include "gateway/http/http_server.h"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>

#include "engine/mutex.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/http_client.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

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
  std::vector<std::shared_ptr<HttpExchange>> exchanges_;
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
  bool happened_ = false;
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

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Start();
  RawClient client = Connect();
  for (int i = 0; i < 3; ++i) {
    client.SendRequest("POST", "/echo", fmt::format("body {}", i));
    const RawResponse response = client.ReadResponse();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, fmt::format("body {}", i));
    EXPECT_EQ(response.headers.at("connection"), "keep-alive");
    EXPECT_TRUE(response.headers.contains("date"));
  }
}

TEST_F(HttpServerTest, AnyPlaceToCutARequestInTwoGivesTheSameAnswer) {
  Start();
  const std::string request = "POST /echo HTTP/1.1\r\nHost: a\r\nX-Word: b\r\nContent-Length: 5\r\n\r\nhello";
  RawClient client = Connect();
  for (size_t cut = 0; cut <= request.size(); ++cut) {
    ASSERT_TRUE(client.Send(request.substr(0, cut)));
    ASSERT_TRUE(client.Send(request.substr(cut)));
    EXPECT_EQ(client.ReadResponse().body, "hello") << cut;
  }
}

TEST_F(HttpServerTest, AByteAtATime) {
  Start();
  RawClient client = Connect();
  for (const char c : std::string("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n")) {
    ASSERT_TRUE(client.Send({&c, 1}));
  }
  EXPECT_EQ(client.ReadResponse().body, "abcdefg");
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client = Connect();
  std::string requests;
  constexpr int kRequests = 200;
  for (int i = 0; i < kRequests; ++i) {
    requests += fmt::format("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n{:04}", i);
  }
  client.Send(requests);
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(client.ReadResponse().body, fmt::format("{:04}", i));
}

TEST_F(HttpServerTest, WhatIsSentOnAheadOfALongAnswerIsAnsweredAfterIt) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  // More than is kept: the rest waits in the network.
  const std::string body(300'000, 'x');
  std::thread sender([&] { client.SendRequest("POST", "/echo", body); });
  exchange->Send({.body = "first"});
  EXPECT_EQ(client.ReadResponse().body, "first");
  EXPECT_EQ(client.ReadResponse().body, body);
  sender.join();
}

TEST_F(HttpServerTest, PathQueryHeadersAndPeerReachTheHandler) {
  Start();
  RawClient client = Connect();
  client.Send("GET http://a/where/Q%2Fwen%20x?a=b%20c HTTP/1.1\r\nHost: a\r\nX-WORD:  some \r\n\r\n");
  EXPECT_EQ(client.ReadResponse().body, "/where/Q/wen x|a=b%20c|some|ipv4:127.0.0.1");
}

TEST_F(HttpServerTest, UnknownPathsAndMethods) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/nothing");
  EXPECT_EQ(client.ReadResponse().status, 404);
  client.SendRequest("DELETE", "/page");
  const RawResponse refused = client.ReadResponse();
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.at("allow"), "GET, HEAD");
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  Start();
  RawClient client = Connect();
  client.SendRequest("HEAD", "/page");
  EXPECT_EQ(client.ReadResponse(/*has_body=*/false).headers.at("content-length"), "3");
  client.SendRequest("HEAD", "/keep");
  const auto exchange = kept_.Take();
  exchange->StartStream({});
  EXPECT_TRUE(exchange->Write("not sent"));
  exchange->Finish();
  EXPECT_EQ(client.ReadResponse(/*has_body=*/false).status, 200);
  client.SendRequest("GET", "/page");
  EXPECT_EQ(client.ReadResponse().body, "<p>");
}

TEST_F(HttpServerTest, PagesCannotBeFramedOrLoadFromElsewhere) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/page");
  const RawResponse page = client.ReadResponse();
  EXPECT_EQ(page.headers.at("x-frame-options"), "DENY");
  EXPECT_THAT(page.headers.at("content-security-policy"), HasSubstr("default-src 'self'"));
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_FALSE(page.headers.contains("access-control-allow-origin"));
}

TEST_F(HttpServerTest, ScriptsOfTheOriginThatWasNamedMayReadAnswers) {
  options_.cors_origin = "https://chat.example.com";
  Start();
  RawClient client = Connect();
  client.SendRequest("OPTIONS", "/echo", "", {"Origin: https://chat.example.com"});
  const RawResponse preflight = client.ReadResponse();
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.at("access-control-allow-origin"), "https://chat.example.com");
  EXPECT_THAT(preflight.headers.at("access-control-allow-headers"), HasSubstr("authorization"));
  client.SendRequest("POST", "/echo", "x");
  EXPECT_EQ(client.ReadResponse().headers.at("access-control-allow-origin"), "https://chat.example.com");
}

TEST_F(HttpServerTest, NamesOfOtherMachinesAreRefusedWhenOnlyLocalOnesAreTaken) {
  options_.local_hosts_only = true;
  Start();
  RawClient client = Connect();
  for (const auto* host : {"localhost", "LocalHost:80", "127.0.0.1:8780", "[::1]:8780", "a.localhost"}) {
    client.Send(fmt::format("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    EXPECT_EQ(client.ReadResponse().status, 200) << host;
  }
  for (const auto* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1"}) {
    client.Send(fmt::format("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    EXPECT_EQ(client.ReadResponse().status, 421) << host;
  }
}

// --- Limits

TEST_F(HttpServerTest, ATooLargeBodyIsRefusedBeforeItIsRead) {
  options_.max_body_bytes = 1000;
  Start();
  RawClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
  const RawResponse refused = client.ReadResponse();
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(refused.body, HasSubstr("1000 bytes"));
  EXPECT_EQ(refused.headers.at("connection"), "close");
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpServerTest, ATooLargeChunkedBodyIsRefusedAtTheChunkThatIsTooMuch) {
  options_.max_body_bytes = 1000;
  Start();
  RawClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.Send(fmt::format("{:x}\r\n{}\r\n", 900, std::string(900, 'x')));
  client.Send("65\r\n");
  EXPECT_EQ(client.ReadResponse().status, 413);
}

// The client still sends while it is refused: its answer must arrive nevertheless.
TEST_F(HttpServerTest, TheRefusalArrivesAlthoughTheBodyIsOnItsWay) {
  options_.max_body_bytes = 1000;
  Start();
  for (int i = 0; i < 20; ++i) {
    RawClient client = Connect();
    client.SendRequest("POST", "/echo", std::string(200'000, 'x'));
    EXPECT_EQ(client.ReadResponse().status, 413);
  }
}

TEST_F(HttpServerTest, TooLargeHeadersAreRefusedHoweverTheyCome) {
  options_.max_header_bytes = 2000;
  Start();
  RawClient one_line = Connect();
  one_line.Send("GET /page HTTP/1.1\r\nX: " + std::string(3000, 'x'));
  EXPECT_EQ(one_line.ReadResponse().status, 431);
  RawClient many_lines = Connect();
  many_lines.Send("GET /page HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 400; ++i) many_lines.Send("X: y\r\n");
  many_lines.Send("\r\n");
  EXPECT_EQ(many_lines.ReadResponse().status, 431);
  RawClient long_target = Connect();
  long_target.Send("GET /" + std::string(3000, 'x'));
  EXPECT_EQ(long_target.ReadResponse().status, 431);
}

TEST_F(HttpServerTest, AChunkHeaderWithoutEndIsRefused) {
  Start();
  RawClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  client.Send(std::string(200'000, 'x'));
  EXPECT_EQ(client.ReadResponse().status, 400);
}

TEST_F(HttpServerTest, WhatProxiesCouldReadOtherwiseIsRefused) {
  Start();
  for (const auto* request : {
           "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
           "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
           "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
           "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
           "POST /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
           "POST /echo HTTP/1.1\r\n\r\n",
           "GET /page HTTP/1.1\r\nHost: a\r\nBad Name: b\r\n\r\n",
           "GET /page HTTP/1.1\nHost: a\n\n",
           "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
           "GET /page HTTP/2.0\r\nHost: a\r\n\r\n",
           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
           "hello\r\n\r\n",
       }) {
    RawClient client = Connect();
    client.Send(request);
    const RawResponse refused = client.ReadResponse();
    EXPECT_GE(refused.status, 400) << request;
    EXPECT_TRUE(client.IsClosed()) << request;
  }
}

TEST_F(HttpServerTest, GarbageNeitherCrashesNorHangs) {
  options_.header_timeout = options_.body_timeout = absl::Milliseconds(50);
  Start();
  std::mt19937 random(7);
  const std::string valid = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (int i = 0; i < 300; ++i) {
    std::string bytes = valid;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    RawClient client = Connect();
    client.Send(bytes);
    client.ReadResponse();
  }
  RawClient client = Connect();
  client.SendRequest("POST", "/echo", "alive");
  EXPECT_EQ(client.ReadResponse().body, "alive");
}

TEST_F(HttpServerTest, SlowHeadersAndBodiesEndWith408) {
  options_.header_timeout = options_.body_timeout = absl::Milliseconds(50);
  Start();
  RawClient head = Connect();
  head.Send("GET /page HTTP/1.1\r\nHo");
  EXPECT_EQ(head.ReadResponse().status, 408);
  EXPECT_TRUE(head.IsClosed());
  RawClient body = Connect();
  body.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_EQ(body.ReadResponse().status, 408);
}

// A byte now and then does not put the deadline off.
TEST_F(HttpServerTest, TricklingHeadersEndWith408) {
  options_.header_timeout = absl::Milliseconds(100);
  Start();
  RawClient client = Connect();
  client.Send("GET /page HTTP/1.1\r\n");
  while (client.Send("X: y\r\n")) std::this_thread::yield();
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  options_.idle_timeout = absl::Milliseconds(50);
  Start();
  RawClient fresh = Connect();
  EXPECT_TRUE(fresh.IsClosed());
  RawClient used = Connect();
  used.SendRequest("POST", "/echo", "x");
  EXPECT_EQ(used.ReadResponse().status, 200);
  EXPECT_TRUE(used.IsClosed());
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitHear503) {
  options_.max_connections = 2;
  Start();
  RawClient first = Connect();
  RawClient second = Connect();
  for (RawClient* client : {&first, &second}) {
    client->SendRequest("POST", "/echo", "x");
    EXPECT_EQ(client->ReadResponse().status, 200);
  }
  RawClient third = Connect();
  third.SendRequest("POST", "/echo", "x");
  const RawResponse refused = third.ReadResponse();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_TRUE(third.IsClosed());
}

TEST_F(HttpServerTest, ContinueIsSaidBeforeTheBodyAndNotWhenItIsTooLarge) {
  options_.max_body_bytes = 1000;
  Start();
  RawClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hello");
  EXPECT_EQ(client.ReadResponse().body, "hello");
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 413);
  RawClient strange = Connect();
  strange.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: miracles\r\n\r\n");
  EXPECT_EQ(strange.ReadResponse().status, 417);
}

// --- Streams

TEST_F(HttpServerTest, PiecesArriveAsTheyAreWritten) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  exchange->StartStream({.content_type = "text/event-stream"});
  EXPECT_TRUE(exchange->Write("data: 1\n\n"));
  EXPECT_THAT(client.ReadUntil("data: 1\n\n"), HasSubstr("text/event-stream"));
  EXPECT_TRUE(exchange->Write("data: 2\n\n"));
  client.ReadUntil("data: 2\n\n");
  exchange->Finish();
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "\r\n0\r\n\r\n");
  client.SendRequest("POST", "/echo", "and on");
  EXPECT_EQ(client.ReadResponse().body, "and on");
}

TEST_F(HttpServerTest, OldClientsGetStreamsThatEndWithTheConnection) {
  Start();
  RawClient client = Connect();
  client.Send("GET /keep HTTP/1.0\r\n\r\n");
  const auto exchange = kept_.Take();
  exchange->StartStream({});
  exchange->Write("ab");
  exchange->Write("cd");
  exchange->Finish();
  const RawResponse response = client.ReadResponse();
  EXPECT_EQ(response.body, "abcd");
  EXPECT_EQ(response.headers.at("connection"), "close");
}

TEST_F(HttpServerTest, AClientThatGoesIsNoticedWhileTheServerSaysNothing) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  Event gone;
  exchange->OnGone([&gone] { gone.Happen(); });
  client.Close();
  gone.Wait();
  exchange->StartStream({});
  EXPECT_FALSE(exchange->Write("to nobody"));
  exchange->Finish();
}

TEST_F(HttpServerTest, OnGoneIsCalledAtOnceWhenTheClientHasGoneBefore) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  Event gone;
  exchange->OnGone([&gone] { gone.Happen(); });
  client.Close();
  gone.Wait();
  bool again = false;
  exchange->OnGone([&again] { again = true; });
  EXPECT_TRUE(again);
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsCutOff) {
  options_.max_unread_bytes = 100'000;
  Start();
  RawClient client = Connect();
  client.ShrinkReceiveBuffer();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  Event gone;
  exchange->OnGone([&gone] { gone.Happen(); });
  exchange->StartStream({});
  const std::string piece(50'000, 'x');
  // What the kernel buffers is some megabytes at most.
  int written = 0;
  while (written < 1000 && exchange->Write(piece)) ++written;
  EXPECT_LT(written, 1000);
  gone.Wait();
}

TEST_F(HttpServerTest, AClientThatStopsReadingIsCutOffInTime) {
  options_.write_timeout = absl::Milliseconds(50);
  options_.max_unread_bytes = 1 << 30;
  Start();
  RawClient client = Connect();
  client.ShrinkReceiveBuffer();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  Event gone;
  exchange->OnGone([&gone] { gone.Happen(); });
  exchange->StartStream({});
  exchange->Write(std::string(64 << 20, 'x'));
  gone.Wait();
}

TEST_F(HttpServerTest, AHandlerThatForgetsItsExchangeAnswersWith500) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/drop");
  EXPECT_EQ(client.ReadResponse().status, 500);
  client.SendRequest("GET", "/keep");
  auto exchange = kept_.Take();
  exchange->StartStream({});
  exchange->Write("half");
  exchange.reset();
  EXPECT_FALSE(client.ReadResponse().complete);
}

TEST_F(HttpServerTest, WhatAHandlerPutsInAHeaderCannotBeginAnother) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  kept_.Take()->Send({.body = "x", .headers = {{"x-request-id", "a\r\nSet-Cookie: b"}}});
  const RawResponse response = client.ReadResponse();
  EXPECT_FALSE(response.headers.contains("set-cookie"));
  EXPECT_EQ(response.headers.at("x-request-id"), "a  Set-Cookie: b");
}

// --- The end

TEST_F(HttpServerTest, ShutdownLetsWhatRunsFinishAndTakesNothingNew) {
  Start();
  RawClient idle = Connect();
  idle.SendRequest("POST", "/echo", "x");
  EXPECT_EQ(idle.ReadResponse().status, 200);
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  exchange->StartStream({});
  std::thread shutdown([this] { server_->Shutdown(absl::Seconds(30)); });
  EXPECT_TRUE(idle.IsClosed());
  exchange->Write("last words");
  exchange->Finish();
  const RawResponse response = client.ReadResponse();
  EXPECT_EQ(response.body, "last words");
  EXPECT_TRUE(response.complete);
  EXPECT_TRUE(client.IsClosed());
  shutdown.join();
  RawClient late = Connect();
  EXPECT_FALSE(late.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n") && late.ReadResponse().status != 0);
}

TEST_F(HttpServerTest, ShutdownCutsOffWhatOutlivesTheGrace) {
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/keep");
  const auto exchange = kept_.Take();
  Event gone;
  exchange->OnGone([&gone] { gone.Happen(); });
  exchange->StartStream({});
  server_->Shutdown(absl::ZeroDuration());
  gone.Wait();
  EXPECT_FALSE(exchange->Write("x"));
  server_.reset();
  EXPECT_FALSE(exchange->Write("an exchange may outlive its server"));
}

TEST_F(HttpServerTest, HealthAndReadiness) {
  Start();
  RawClient client = Connect();
  const auto status_of = [&client](std::string_view path) {
    client.SendRequest("GET", path);
    return client.ReadResponse().status;
  };
  EXPECT_EQ(status_of("/healthz"), 200);
  EXPECT_EQ(status_of("/readyz"), 200);
  server_->SetServing(false);
  EXPECT_EQ(status_of("/healthz"), 200);
  EXPECT_EQ(status_of("/readyz"), 503);
}

// --- Addresses

TEST_F(HttpServerTest, UnixSocketsAreServedAndRemoved) {
  const std::string path = ::testing::TempDir() + "/headstart_http_test.sock";
  options_.listen = "unix:" + path;
  Start();
  RawClient client = Connect();
  client.SendRequest("GET", "/where/x");
  EXPECT_THAT(client.ReadResponse().body, HasSubstr("unix"));
  client.Close();
  server_.reset();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(HttpServerTest, AnAddressInUseIsRefused) {
  Start();
  HttpServerOptions second = options_;
  second.listen = server_->address();
  EXPECT_TRUE(absl::IsAlreadyExists(HttpServer::Start(second, HttpRouter()).status()));
  second.listen = "nonsense";
  EXPECT_TRUE(absl::IsInvalidArgument(HttpServer::Start(second, HttpRouter()).status()));
}

TEST_F(HttpServerTest, FiftyStreamsAtOnce) {
  Start();
  constexpr int kStreams = 50;
  std::vector<RawClient> clients;
  std::vector<std::shared_ptr<HttpExchange>> exchanges;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(Connect());
    clients.back().SendRequest("GET", "/keep");
    exchanges.push_back(kept_.Take());
    exchanges.back()->StartStream({});
  }
  for (int piece = 0; piece < 100; ++piece) {
    for (int i = 0; i < kStreams; ++i) exchanges[i]->Write(fmt::format("{}:{}\n", i, piece));
  }
  for (int i = 0; i < kStreams; ++i) exchanges[i]->Finish();
  for (int i = 0; i < kStreams; ++i) {
    const RawResponse response = clients[i].ReadResponse();
    EXPECT_TRUE(response.complete);
    EXPECT_EQ(std::ranges::count(response.body, '\n'), 100);
    EXPECT_THAT(response.body, HasSubstr(fmt::format("{}:99\n", i)));
  }
}

}  // namespace
}  // namespace headstart::testing
