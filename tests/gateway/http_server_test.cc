// The HTTP server over loopback sockets, byte by byte: requests, routes, addresses and its end.

#include "gateway/http/http_server.h"

#include <unistd.h>

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
  for (const auto* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1",
                           "[::1].evil.example", "localhost:80@evil.example", "[", "[::1]x:80", "[::1"}) {
    client.Send(fmt::format("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", host));
    EXPECT_EQ(client.ReadResponse().status, 421) << host;
  }
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

}  // namespace
}  // namespace headstart::testing
