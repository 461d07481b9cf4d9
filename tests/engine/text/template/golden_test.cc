// What jinja2 makes of the same templates: see tests/golden/templates/README.md.

#include <fstream>
#include <map>
#include <sstream>

#include "absl/time/civil_time.h"
#include "engine/text/template/chat_template.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFolder[] = "tests/golden/templates/";

std::string ReadFile(const std::string& name) {
  std::ifstream in(kFolder + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The `NOW` of hf_environment.py.
absl::Time Now() {
  return absl::FromCivil(absl::CivilSecond(2026, 3, 5, 9, 7, 3), absl::UTCTimeZone()) + absl::Microseconds(45);
}

// The text, or what went wrong.
absl::StatusOr<std::string> Render(const std::string& source, const Json& test, ChatInput input) {
  auto parsed = ChatTemplate::Parse(source, test.value("bos_token", ""), test.value("eos_token", ""));
  if (!parsed.ok()) return parsed.status();
  input.now = Now();
  auto prompt = (*parsed)->Render(input);
  if (!prompt.ok()) return prompt.status();
  return prompt->text;
}

// raise_exception and undefined values must say the same; other errors of Python only have to be errors.
void ExpectSame(const absl::StatusOr<std::string>& rendered, const Json& test, const std::string& name) {
  if (test.contains("expected")) {
    EXPECT_TRUE(rendered.ok()) << name << ": " << rendered.status();
    if (rendered.ok()) {
      EXPECT_EQ(*rendered, test["expected"].get<std::string>()) << name;
    }
    return;
  }
  const std::string type = test["error"]["type"], message = test["error"]["message"];
  if (rendered.ok()) {
    ADD_FAILURE() << name << " gives \"" << *rendered << "\" in place of " << type << ": " << message;
    return;
  }
  if (type == "UndefinedError" || type == "TemplateError" || type == "SecurityError") {
    EXPECT_THAT(std::string(rendered.status().message()), ::testing::EndsWith(message)) << name;
  }
  if (type == "TemplateError") {
    EXPECT_EQ(rendered.status().code(), absl::StatusCode::kFailedPrecondition) << name;
  }
}

TEST(TemplateGolden, ChatsRenderAsWithJinja2) {
  const Json tests = Json::parse(ReadFile("chats.json"));
  ASSERT_GE(tests.size(), 200u);
  for (const Json& test : tests) {
    const Json& given = test["input"];
    ChatInput input;
    input.messages = &given["messages"];
    input.tools = given["tools"].is_null() ? nullptr : &given["tools"];
    input.variables = &given["variables"];
    input.add_generation_prompt = given["add_generation_prompt"];
    const std::string name = test["template"];
    ExpectSame(Render(ReadFile(name + ".jinja"), test, input), test,
               fmt::format("{}, {}", name, test["title"].get<std::string>()));
  }
}

TEST(TemplateGolden, LanguageIsJinja2s) {
  const Json tests = Json::parse(ReadFile("language.json"));
  ASSERT_GE(tests.size(), 300u);
  for (const Json& test : tests) {
    const std::string source = test["template"];
    ChatInput input;
    input.variables = &test["names"];
    ExpectSame(Render(source, test, input), test, fmt::format("{}: {}", test["group"].get<std::string>(), source));
  }
}

}  // namespace
}  // namespace headstart
