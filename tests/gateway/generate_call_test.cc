// One Generate stream against an engine that the test plays.

#include <string>
#include <thread>

#include "gateway/errors/error_details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/gateway/fake_engine.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

constexpr char kPrompt[] = "Where is the red lamp?";

GenerationUsage Split() {
  GenerationUsage usage;
  usage.prompt_tokens = 7;
  usage.cached_device_tokens = 3;
  usage.miss_reason = MissReason::kDiverged;
  return usage;
}

GenerationUsage Total() {
  GenerationUsage usage = Split();
  usage.computed_prompt_tokens = 4;
  usage.completion_tokens = 2;
  return usage;
}

GenerationDelta Delta(const std::string& text, int token) {
  return {.text = text, .tokens = {{.token = TokenId{token}, .logprob = -0.5f, .top = {{TokenId{token}, -0.5f}}}}};
}

class GenerateCallTest : public ::testing::Test {
 protected:
  explicit GenerateCallTest(ServiceHostOptions options = {}) {
    auto engine = std::make_unique<FakeEngine>();
    engine_ = engine.get();
    served_.emplace(std::move(engine), std::move(options));
  }

  // Runs `request` on a thread of its own, so that the test can be the engine.
  void Begin(const v1::GenerateRequest& request) {
    client_ = std::thread([this, request] { stream_ = Generate(served_->stub(), request); });
  }
  const Stream& End() {
    client_.join();
    return stream_;
  }

  FakeEngine* engine_ = nullptr;
  std::optional<ServedEngine> served_;
  std::thread client_;
  Stream stream_;
};

TEST_F(GenerateCallTest, CacheControlReachesTheEngine) {
  v1::GenerateRequest request = TextRequest(kPrompt);
  request.mutable_cache()->set_read(false);
  request.mutable_cache()->set_priority(v1::CACHE_PRIORITY_LOW);
  request.mutable_cache()->mutable_ttl()->set_seconds(90);
  Begin(request);
  const auto submitted = engine_->WaitForRequest();
  EXPECT_FALSE(submitted.request.read_cache);
  EXPECT_TRUE(submitted.request.write_cache);
  EXPECT_EQ(submitted.request.priority, -1);
  EXPECT_EQ(submitted.request.ttl, absl::Seconds(90));
  GenerationTimings timings;
  timings.load = absl::Milliseconds(250);
  submitted.sink->OnFinished(FinishReason::kStop, Total(), timings);
  EXPECT_EQ(End().finished().timings().load().nanos(), 250'000'000);
}

TEST_F(GenerateCallTest, WithoutCacheControlAllIsOnAndWithoutEnd) {
  Begin(TextRequest(kPrompt));
  const auto submitted = engine_->WaitForRequest();
  EXPECT_TRUE(submitted.request.read_cache);
  EXPECT_TRUE(submitted.request.write_cache);
  EXPECT_EQ(submitted.request.priority, 0);
  EXPECT_EQ(submitted.request.ttl, absl::InfiniteDuration());
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  End();
}

TEST_F(GenerateCallTest, EventsComeInOrder) {
  v1::GenerateRequest request = TextRequest(kPrompt);
  request.set_request_id("request-1");
  GenerationTimings timings;
  timings.ttft = absl::Milliseconds(1500);
  Begin(request);
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  submitted.sink->OnDelta(Delta("The", 408));
  submitted.sink->OnDelta(Delta(" lamp", 296));
  submitted.sink->OnFinished(FinishReason::kStop, Total(), timings);
  const Stream& stream = End();
  ASSERT_TRUE(stream.status.ok()) << stream.status.error_message();
  ASSERT_GE(stream.events.size(), 3u);
  EXPECT_EQ(stream.started().request_id(), "request-1");
  EXPECT_EQ(stream.started().model(), "demo");
  EXPECT_EQ(stream.started().split().cached_tokens(), 3);
  EXPECT_EQ(stream.started().split().computed_tokens(), 4);
  EXPECT_EQ(stream.started().split().miss_reason(), v1::MISS_REASON_DIVERGED);
  EXPECT_EQ(stream.text(), "The lamp");
  EXPECT_THAT(stream.token_ids(), ::testing::ElementsAre(408, 296));
  EXPECT_EQ(stream.finished().reason(), v1::FINISH_REASON_STOP);
  EXPECT_EQ(stream.finished().timings().time_to_first_token().seconds(), 1);
  EXPECT_EQ(stream.finished().timings().time_to_first_token().nanos(), 500'000'000);
  const RequestRecord record = served_->observer().WaitForRecords(1).front();
  EXPECT_EQ(record.token_gaps.count(), 1) << "between two tokens there is one";
  EXPECT_GT(record.tokenize, absl::ZeroDuration());
}

TEST_F(GenerateCallTest, ZeroIsWritten) {
  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted({});
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  const v1::Usage& usage = End().finished().usage();
  EXPECT_TRUE(usage.has_prompt_tokens() && usage.has_cached_tokens() && usage.has_computed_prompt_tokens());
  EXPECT_TRUE(usage.has_cache_write_tokens() && usage.has_completion_tokens() && usage.has_recomputed_tokens());
  const v1::TierTokens& tiers = usage.cached_by_tier();
  EXPECT_TRUE(tiers.has_device() && tiers.has_host() && tiers.has_disk() && tiers.has_remote());
}

TEST_F(GenerateCallTest, RequestReachesTheEngineWhole) {
  v1::GenerateRequest request = TextRequest(kPrompt);
  request.mutable_sampling()->set_seed(7);
  request.mutable_sampling()->set_top_k(5);
  request.set_max_tokens(9);
  request.add_stop("\n");
  request.add_stop_token_ids(46);
  request.set_ignore_eos(true);
  request.set_logprobs(true);
  request.set_top_logprobs(2);
  request.mutable_cache()->set_read(false);
  Begin(request);
  auto submitted = engine_->WaitForRequest();
  const GenerationRequest& seen = submitted.request;
  EXPECT_EQ(seen.scope, Scope::Tenant("default"));
  EXPECT_EQ(seen.sampling.seed, 7u);
  EXPECT_EQ(seen.sampling.top_k, 5);
  EXPECT_EQ(seen.sampling.temperature, 0);
  EXPECT_EQ(seen.sampling.top_logprobs, 2);
  EXPECT_EQ(seen.max_tokens, 9);
  EXPECT_THAT(seen.stop, ::testing::ElementsAre("\n"));
  EXPECT_THAT(seen.stop_tokens, ::testing::ElementsAre(TokenId{46}));
  EXPECT_TRUE(seen.ignore_eos);
  EXPECT_FALSE(seen.read_cache);
  EXPECT_TRUE(seen.write_cache);
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  End();
}

TEST_F(GenerateCallTest, LogprobsAreSentWhenAsked) {
  v1::GenerateRequest request = TextRequest(kPrompt);
  request.set_logprobs(true);
  request.set_top_logprobs(1);
  Begin(request);
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  submitted.sink->OnDelta(Delta("The", 408));
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  const Stream& stream = End();
  const v1::GenerateDelta& delta = stream.events.at(1).delta();
  ASSERT_EQ(delta.logprobs_size(), 1);
  EXPECT_EQ(delta.logprobs(0).chosen().token(), "The");
  EXPECT_FLOAT_EQ(delta.logprobs(0).chosen().logprob(), -0.5f);
  EXPECT_EQ(delta.logprobs(0).top_size(), 1);
}

TEST_F(GenerateCallTest, RequestIdAndSeedAreMadeUpWhenMissing) {
  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  const Stream& stream = End();
  EXPECT_FALSE(stream.started().request_id().empty());
  EXPECT_EQ(stream.started().seed(), submitted.request.sampling.seed);
}

TEST_F(GenerateCallTest, CancelReachesTheEngine) {
  grpc::ClientContext context;
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  v1::GenerateResponse event;
  ASSERT_TRUE(reader->Read(&event));
  context.TryCancel();
  EXPECT_EQ(engine_->WaitForCancel(), submitted.id);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  submitted.sink->OnFinished(FinishReason::kCancelled, Total(), {});
  EXPECT_EQ(served_->observer().WaitForRecords(1).front().usage.completion_tokens, 2);
}

TEST_F(GenerateCallTest, DeadlineIsPassedOnAndCancels) {
  grpc::ClientContext context;
  // Long enough for the request to reach the engine on a loaded machine.
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(3);
  context.set_deadline(deadline);
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  EXPECT_LT(absl::AbsDuration(submitted.request.deadline - absl::FromChrono(deadline)), absl::Seconds(2));
  EXPECT_EQ(engine_->WaitForCancel(), submitted.id);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  submitted.sink->OnFinished(FinishReason::kCancelled, {}, {});
}

TEST_F(GenerateCallTest, WithoutDeadlineThereIsNone) {
  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  EXPECT_EQ(submitted.request.deadline, absl::InfiniteFuture());
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  End();
}

TEST_F(GenerateCallTest, CutShortByShutdownSaysSoAndWhatWasUsed) {
  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  submitted.sink->OnFinished(FinishReason::kShutdown, Total(), {});
  const Stream& stream = End();
  EXPECT_EQ(stream.finished().reason(), v1::FINISH_REASON_SHUTDOWN);
  EXPECT_EQ(stream.finished().usage().completion_tokens(), 2);
  EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(stream.status), "SERVER_STOPPING");
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(stream.status).has_value());
}

// The client does not read until everything is written: what does not fit on the way is merged.
TEST_F(GenerateCallTest, SlowClientGetsMergedDeltas) {
  constexpr int kDeltas = 20000;
  const std::string piece(50, 'x');
  grpc::ClientContext context;
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  for (int i = 0; i < kDeltas; ++i) submitted.sink->OnDelta(Delta(piece, i % 464));
  submitted.sink->OnFinished(FinishReason::kLength, Total(), {});
  Stream stream;
  v1::GenerateResponse event;
  while (reader->Read(&event)) stream.events.push_back(event);
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(stream.text().size(), kDeltas * piece.size());
  EXPECT_EQ(stream.token_ids().size(), size_t{kDeltas});
  EXPECT_LT(stream.events.size(), size_t{kDeltas} / 2);
  EXPECT_EQ(stream.finished().reason(), v1::FINISH_REASON_LENGTH);
}

class SmallBufferTest : public GenerateCallTest {
 protected:
  SmallBufferTest() : GenerateCallTest({.max_unread_bytes = 256 << 10}) {}
};

TEST_F(SmallBufferTest, ClientThatNeverReadsIsCutOff) {
  grpc::ClientContext context;
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  const std::string piece(4096, 'x');
  for (int i = 0; i < 4096; ++i) submitted.sink->OnDelta(Delta(piece, 1));
  EXPECT_EQ(engine_->WaitForCancel(), submitted.id);
  submitted.sink->OnFinished(FinishReason::kCancelled, Total(), {});
  v1::GenerateResponse event;
  while (reader->Read(&event)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "CLIENT_TOO_SLOW");
}

TEST_F(GenerateCallTest, RecordNamesTenantLabelsAndReason) {
  v1::GenerateRequest request = TextRequest(kPrompt);
  (*request.mutable_labels())["team"] = "search";
  Begin(request);
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnFinished(FinishReason::kLength, Total(), {});
  End();
  const RequestRecord record = served_->observer().WaitForRecords(1).front();
  EXPECT_EQ(record.tenant, "default");
  EXPECT_EQ(record.labels.at("team"), "search");
  EXPECT_EQ(record.reason, FinishReason::kLength);
}

// --- the account

TEST_F(GenerateCallTest, FinishedComesWhenTheRecordIsWritten) {
  served_->accountant().Hold();
  grpc::ClientContext context;
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  v1::GenerateResponse event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.has_started());
  const RequestRecord record = served_->accountant().WaitForRecords(1).front();
  EXPECT_EQ(record.usage.completion_tokens, 2);
  served_->accountant().Release();
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.finished().receipt().recorded());
  EXPECT_EQ(event.finished().receipt().charge().cost_nanos(), 7);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(GenerateCallTest, WhatTheAccountantRefusesNeverReachesTheEngine) {
  served_->accountant().Refuse(WithReason(absl::ResourceExhaustedError("the budget is used up"), "BUDGET_EXHAUSTED"));
  const Stream stream = Generate(served_->stub(), TextRequest(kPrompt));
  EXPECT_EQ(stream.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(stream.status), "BUDGET_EXHAUSTED");
  served_->accountant().Refuse(absl::OkStatus());
  Begin(TextRequest("another"));
  const auto submitted = engine_->WaitForRequest();
  submitted.sink->OnFinished(FinishReason::kStop, {}, {});
  EXPECT_TRUE(End().status.ok());
  EXPECT_EQ(served_->accountant().admissions().size(), 2u);
  EXPECT_EQ(served_->accountant().WaitForRecords(1).size(), 1u);
}

TEST_F(GenerateCallTest, ClientThatLeavesIsRecordedOnce) {
  grpc::ClientContext context;
  auto reader = served_->stub().Generate(&context, TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  context.TryCancel();
  engine_->WaitForCancel();
  submitted.sink->OnFinished(FinishReason::kCancelled, Total(), {});
  const auto records = served_->accountant().WaitForRecords(1);
  EXPECT_EQ(records.size(), 1u);
  EXPECT_EQ(records.front().reason, FinishReason::kCancelled);
  EXPECT_EQ(records.front().usage.completion_tokens, 2);
}

// The same request again has the same digest; another prompt or another way to answer has not.
TEST_F(GenerateCallTest, DigestTellsARepeatedRequestFromAnother) {
  const auto answer = [&](const v1::GenerateRequest& request) {
    Begin(request);
    engine_->WaitForRequest().sink->OnFinished(FinishReason::kStop, Total(), {});
    End();
    return served_->accountant().admissions().back();
  };
  v1::GenerateRequest request = TextRequest(kPrompt);
  request.set_request_id("request-1");
  const AdmissionRequest first = answer(request);
  EXPECT_EQ(first.request_id, "request-1");
  EXPECT_EQ(first.tenant, "default");
  (*request.mutable_labels())["attempt"] = "2";
  request.mutable_cache()->set_read(false);
  EXPECT_EQ(answer(request).request_digest, first.request_digest);
  request.set_max_tokens(9);
  EXPECT_NE(answer(request).request_digest, first.request_digest);
  request.clear_max_tokens();
  request.mutable_input()->mutable_text()->set_text("Where is the blue lamp?");
  EXPECT_NE(answer(request).request_digest, first.request_digest);
}

TEST_F(GenerateCallTest, RecordSaysWhenItWasAskedAndWhenItEnded) {
  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  const absl::Time between = absl::Now();
  submitted.sink->OnFinished(FinishReason::kStop, Total(), {});
  End();
  const RequestRecord record = served_->accountant().WaitForRecords(1).front();
  EXPECT_LE(record.start, between);
  EXPECT_GE(record.end, between);
}

// What turns out not to fit beside pinned prefixes is refused as what never could; what it did until then is recorded.
TEST_F(GenerateCallTest, RefusedByTheEngineInTheEnd) {
  const absl::Status why = absl::FailedPreconditionError("pinned prefixes hold 7 of 8 blocks");
  Begin(TextRequest(kPrompt));
  engine_->WaitForRequest().sink->OnRefused(why, {}, {});
  const grpc::Status unworked = End().status;
  EXPECT_EQ(unworked.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(unworked), "CACHE_TOO_SMALL");

  Begin(TextRequest(kPrompt));
  auto submitted = engine_->WaitForRequest();
  submitted.sink->OnStarted(Split());
  GenerationUsage done = Total();
  done.completion_tokens = 0;
  submitted.sink->OnRefused(why, done, {});
  EXPECT_EQ(ReasonOf(End().status), "CACHE_TOO_SMALL");
  const auto records = served_->accountant().WaitForRecords(1);
  ASSERT_EQ(records.size(), 1u) << "the first did no work";
  EXPECT_EQ(records.front().usage.computed_prompt_tokens, 4);
  EXPECT_EQ(records.front().reason, FinishReason::kShutdown);
}

}  // namespace
}  // namespace headstart::testing
