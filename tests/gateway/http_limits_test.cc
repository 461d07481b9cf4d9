// What a client cannot make the HTTP server do: limits, deadlines, and requests that are none.

#include <optional>
#include <random>
#include <string>
#include <thread>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/http_client.h"
#include "tests/gateway/http_fixture.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

TEST(HttpServerOptionsTest, TimeoutsInWhichNothingCanArriveAreRefused) {
  for (auto member : {&HttpServerOptions::header_timeout, &HttpServerOptions::body_timeout,
                      &HttpServerOptions::idle_timeout, &HttpServerOptions::write_timeout}) {
    HttpServerOptions options;
    options.*member = absl::ZeroDuration();
    EXPECT_THAT(std::string(CheckHttpServerOptions(options).message()), HasSubstr("-timeout is out of its range"));
    options.*member = absl::Milliseconds(1);
    EXPECT_TRUE(CheckHttpServerOptions(options).ok());
  }
}

TEST(HttpServerOptionsTest, TheOriginIsOneAsBrowsersWriteIt) {
  const auto check = [](std::string origin) {
    HttpServerOptions options;
    options.cors_origin = std::move(origin);
    return CheckHttpServerOptions(options).ok();
  };
  for (const auto* good : {"", "*", "https://chat.example.com", "http://localhost:3000", "http://[::1]:3000"}) {
    EXPECT_TRUE(check(good)) << good;
  }
  for (const auto* bad : {"chat.example.com", "https://a.example/", "https://", "://a", "https://a, https://b", "null",
                          "https://a\r\nX: y"}) {
    EXPECT_FALSE(check(bad)) << bad;
  }
}

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

// Whoever is not let in makes the server hold no body, and is not even asked for it.
TEST_F(HttpServerTest, WhoIsNotLetInIsToldBeforeTheBodyIsRead) {
  options_.refuse = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    const bool known = head.Header("x-word") == "open" && head.method == "POST" && head.path == "/echo" &&
                       head.peer.starts_with("ipv4:127.0.0.1:") && head.body.empty();
    return known ? std::nullopt : std::optional(HttpError(401, "no"));
  };
  Start();
  RawClient stranger = Connect();
  stranger.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  const RawResponse refused = stranger.ReadResponse();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.headers.at("connection"), "close");
  EXPECT_TRUE(stranger.IsClosed());
  RawClient friendly = Connect();
  for (int i = 0; i < 2; ++i) {
    friendly.SendRequest("POST", "/echo", "hello", {"X-Word: open"});
    EXPECT_EQ(friendly.ReadResponse().body, "hello");
  }
  friendly.SendRequest("GET", "/page");  // nothing to hold: its handler decides
  EXPECT_EQ(friendly.ReadResponse().status, 200);
}

TEST_F(HttpServerTest, WhatFollowsAChunkedBodyIsNoHeader) {
  options_.refuse = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.Header("x-word").empty()) return HttpError(401, "no");
    return std::nullopt;
  };
  Start();
  RawClient client = Connect();
  client.Send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Word: open\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 401);
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

}  // namespace
}  // namespace headstart::testing
