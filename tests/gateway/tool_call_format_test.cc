// Which form of calls a chat template shows.

#include "gateway/openai/tool_call_format.h"

#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

struct Family {
  std::string file;
  ToolCallFormat format;
};

class ToolCallFormatTest : public ::testing::TestWithParam<Family> {};

TEST_P(ToolCallFormatTest, IsDetected) {
  std::ifstream file("tests/golden/templates/" + GetParam().file);
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const auto chat_template = ChatTemplate::Parse(text.str(), "<s>", "</s>");
  ASSERT_TRUE(chat_template.ok()) << chat_template.status();
  EXPECT_EQ(DetectToolCallFormat(**chat_template), GetParam().format);
  EXPECT_EQ(ResolveToolCallFormat(ToolCallFormatChoice::kNone, **chat_template), ToolCallFormat::kNone);
  EXPECT_EQ(ResolveToolCallFormat(ToolCallFormatChoice::kHermes, **chat_template), ToolCallFormat::kHermes);
}

INSTANTIATE_TEST_SUITE_P(Families, ToolCallFormatTest,
                         ::testing::Values(Family{"hermes3.jinja", ToolCallFormat::kHermes},
                                           Family{"qwen2.5.jinja", ToolCallFormat::kHermes},
                                           Family{"qwen3.jinja", ToolCallFormat::kHermes},
                                           Family{"llama3.1.jinja", ToolCallFormat::kLlama3},
                                           Family{"mistral-v0.3.jinja", ToolCallFormat::kMistral},
                                           Family{"llama2.jinja", ToolCallFormat::kNone},
                                           Family{"phi3.5.jinja", ToolCallFormat::kNone},
                                           Family{"smollm2.jinja", ToolCallFormat::kNone}),
                         [](const auto& family) {
                           std::string name = family.param.file.substr(0, family.param.file.rfind('.'));
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(ToolCallIdTest, HasTheFormThatTheTemplateTakes) {
  EXPECT_EQ(ToolCallId(ToolCallFormat::kMistral, 1).size(), 9u);
  EXPECT_EQ(ToolCallId(ToolCallFormat::kHermes, 1), "call_0000000000000001");
}

}  // namespace
}  // namespace headstart::testing
