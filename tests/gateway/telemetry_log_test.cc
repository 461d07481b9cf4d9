// The log's lines, as text and as JSON.

#include <algorithm>
#include <sstream>

#include "gateway/server/request_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spdlog/sinks/ostream_sink.h"

namespace headstart::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class LogTest : public ::testing::Test {
 protected:
  explicit LogTest(LogFormat format)
      : sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(out_)),
        logger_("headstart", sink_),
        log_(logger_, format) {
    sink_->set_formatter(NewLogFormatter(format));
  }

  RequestRecord Record() const {
    RequestRecord record;
    record.request_id = "r-1";
    record.tenant = "acme";
    record.key_id = "ci";
    record.model = "demo";
    record.labels = {{"secret", "label"}};
    record.usage = {.prompt_tokens = 100,
                    .cached_device_tokens = 60,
                    .cached_disk_tokens = 9,
                    .computed_prompt_tokens = 31,
                    .cache_write_tokens = 40,
                    .completion_tokens = 8};
    record.timings.ttft = absl::Milliseconds(125);
    return record;
  }

  std::ostringstream out_;
  std::shared_ptr<spdlog::sinks::sink> sink_;
  spdlog::logger logger_;
  RequestLog log_;
};

class TextLogTest : public LogTest {
 protected:
  TextLogTest() : LogTest(LogFormat::kText) {}
};
class JsonLogTest : public LogTest {
 protected:
  JsonLogTest() : LogTest(LogFormat::kJson) {}
  nlohmann::json Line() { return nlohmann::json::parse(out_.str()); }
};

TEST_F(TextLogTest, KeysAndValues) {
  log_.OnRequestFinished(Record());
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(" info generate request_id=r-1 tenant=acme reason=stop prompt_tokens=100 "
                                          "cached_tokens=69 computed_prompt_tokens=31 "),
                                HasSubstr("ttft_ms=125.0")));
}

TEST_F(JsonLogTest, OpenTelemetrysNames) {
  log_.OnRequestFinished(Record());
  const nlohmann::json line = Line();
  EXPECT_EQ(line["level"], "info");
  EXPECT_THAT(line["time"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..[.]...Z"));
  EXPECT_EQ(line["gen_ai.usage.input_tokens"], 100);
  EXPECT_EQ(line["gen_ai.usage.output_tokens"], 8);
  EXPECT_EQ(line["gen_ai.usage.cache_read.input_tokens"], 69);
  EXPECT_EQ(line["gen_ai.usage.cache_creation.input_tokens"], 40);
  EXPECT_EQ(line["gen_ai.response.finish_reasons"], nlohmann::json({"stop"}));
  EXPECT_EQ(line["gen_ai.server.time_to_first_token"], 0.125);
  EXPECT_EQ(line["headstart.key_id"], "ci");
  EXPECT_EQ(line["headstart.usage.cached_remote_tokens"], 0);  // zero is written as zero
  EXPECT_EQ(out_.str().find("secret"), std::string::npos);
}

TEST_F(JsonLogTest, OtherLinesAreMessages) {
  logger_.warn("serving \"{}\" at {}", "demo", "{not json");
  EXPECT_EQ(Line()["message"], "serving \"demo\" at {not json");
  EXPECT_EQ(Line()["level"], "warning");
}

TEST_F(JsonLogTest, WhateverCallersWroteEachLineIsOneObject) {
  RequestRecord record = Record();
  record.request_id = "a\"}\n{\"b\xff";
  record.tenant = std::string("t\0", 2);
  log_.OnRequestFinished(record);
  const std::string text = out_.str();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_EQ(Line()["gen_ai.response.id"], "a\"}\n{\"b\xEF\xBF\xBD");
}

TEST_F(JsonLogTest, IsSilentWhenTheLoggerIs) {
  logger_.set_level(spdlog::level::warn);
  log_.OnRequestFinished(Record());
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace headstart::testing
