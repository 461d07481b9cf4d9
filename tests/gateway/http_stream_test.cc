// Answers in pieces: that they arrive, and what becomes of clients that go or do not read.

#include <algorithm>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/http_client.h"
#include "tests/gateway/http_fixture.h"

namespace headstart::testing {
namespace {

using ::testing::HasSubstr;

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
