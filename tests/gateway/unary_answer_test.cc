// A unary call that is answered late, against a client that goes away.

#include "gateway/services/unary_answer.h"

#include <deque>
#include <optional>
#include <thread>

#include "gtest/gtest.h"
#include "tests/gateway/rpc_testing.h"

namespace headstart::testing {
namespace {

using Answer = UnaryAnswer<v1::FlushCacheResponse>;

// Leaves every call to the test.
class HeldService final : public v1::AdminService::CallbackService {
 public:
  grpc::ServerUnaryReactor* FlushCache(grpc::CallbackServerContext*, const v1::FlushCacheRequest*,
                                       v1::FlushCacheResponse* response) override {
    MutexLock lock(mutex_);
    calls_.push_back(Answer::Create(*response));
    mutex_.NotifyAll();
    return calls_.back().get();
  }

  std::shared_ptr<Answer> WaitForCall() {
    MutexLock lock(mutex_);
    while (calls_.empty()) mutex_.Wait();
    auto call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

 private:
  Mutex mutex_;
  std::deque<std::shared_ptr<Answer>> calls_ ABSL_GUARDED_BY(mutex_);
};

class UnaryAnswerTest : public ::testing::Test {
 protected:
  UnaryAnswerTest()
      : server_(*GrpcServer::Start({.listen = "127.0.0.1:0"}, {{&service_, "headstart.v1.AdminService"}})),
        stub_(v1::AdminService::NewStub(server_->InProcessChannel())) {}

  void Begin() {
    client_ = std::thread([this] { status_ = stub_->FlushCache(&context_, {}, &response_); });
  }
  const grpc::Status& End() {
    client_.join();
    return status_;
  }

  HeldService service_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
  grpc::ClientContext context_;
  v1::FlushCacheResponse response_;
  grpc::Status status_;
  std::thread client_;
};

void Fill(v1::FlushCacheResponse& response) { response.set_removed_blocks(7); }

TEST_F(UnaryAnswerTest, FirstAnswerCounts) {
  Begin();
  const auto answer = service_.WaitForCall();
  answer->LetGo();
  answer->Answer(Fill);
  answer->Refuse(absl::InternalError("too late"));
  EXPECT_TRUE(End().ok());
  EXPECT_EQ(response_.removed_blocks(), 7);
}

TEST_F(UnaryAnswerTest, RefusalCarriesItsDetails) {
  Begin();
  const auto answer = service_.WaitForCall();
  answer->Refuse(absl::NotFoundError("nothing"));
  bool filled = false;
  answer->Answer([&filled](v1::FlushCacheResponse&) { filled = true; });
  EXPECT_EQ(End().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ReasonOf(status_), "NOT_FOUND");
  EXPECT_FALSE(filled);
}

// The server's shutdown waits for calls: were it not for LetGo, it would wait for the engine.
TEST_F(UnaryAnswerTest, CallThatWasLetGoDoesNotHoldUpTheServer) {
  Begin();
  const auto answer = service_.WaitForCall();
  answer->LetGo();
  server_->Shutdown(absl::ZeroDuration());
  EXPECT_FALSE(End().ok());
  bool filled = false;
  answer->Answer([&filled](v1::FlushCacheResponse&) { filled = true; });
  EXPECT_FALSE(filled);
}

TEST_F(UnaryAnswerTest, CallThatIsHeldEndsOnceItIsLetGo) {
  Begin();
  const auto answer = service_.WaitForCall();
  context_.TryCancel();
  End();  // the client has gone; the server may learn of it before or after the next line
  answer->LetGo();
  server_->Shutdown(absl::ZeroDuration());
  bool filled = false;
  answer->Answer([&filled](v1::FlushCacheResponse&) { filled = true; });
  EXPECT_FALSE(filled);
}

}  // namespace
}  // namespace headstart::testing
