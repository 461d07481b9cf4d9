// LedgerTest: a ledger on a disk that fails when a test says so, and a clock that stands still.

#ifndef HEADSTART_TESTS_GATEWAY_LEDGER_FIXTURE_H_
#define HEADSTART_TESTS_GATEWAY_LEDGER_FIXTURE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/mutex.h"
#include "gateway/ledger/ledger.h"
#include "gtest/gtest.h"
#include "tests/gateway/ledger_testing.h"
#include "tests/testing/faulty_file_system.h"
#include "tests/testing/status.h"
#include "tests/testing/temporary_folder.h"

namespace headstart::testing {

class EventLog {
 public:
  std::function<void(const std::string&)> callback() {
    return [this](const std::string& event) {
      MutexLock lock(mutex_);
      events_.push_back(event);
    };
  }
  std::vector<std::string> events() {
    MutexLock lock(mutex_);
    return events_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> events_ ABSL_GUARDED_BY(mutex_);
};

class LedgerTest : public ::testing::Test {
 protected:
  // On disk, and tried again after failures only when a test says so.
  LedgerOptions Options() {
    LedgerOptions options;
    options.directory = folder_.Path("ledger");
    options.env = files_.env();
    options.on_event = log_.callback();
    options.now = [this] { return now_; };
    options.first_retry = options.longest_retry = absl::Hours(10);
    options.expire_every = absl::Hours(10);
    return options;
  }
  void Open() { Open(Options()); }
  void Open(LedgerOptions options) {
    ledger_.reset();
    auto opened = Ledger::Open(std::move(options));
    ASSERT_OK(opened);
    ledger_ = *std::move(opened);
  }
  PostResult Post(const EntrySpec& spec) { return testing::Post(*ledger_, MakeEntry(spec)); }
  void ExpectSumsMatch() { EXPECT_EQ(Text(AllHours(*ledger_)), Text(SumByHour(AllRecords(*ledger_)))); }
  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    for (const auto& entry : AllRecords(*ledger_)) ids.push_back(entry.tenant() + "/" + entry.request_id());
    return ids;
  }

  TemporaryFolder folder_;
  FaultyFileSystem files_;
  EventLog log_;
  absl::Time now_ = Ten();
  std::unique_ptr<Ledger> ledger_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_GATEWAY_LEDGER_FIXTURE_H_
