// Whether a chat template takes tools.

#include "gateway/services/tool_support.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace headstart::testing {
namespace {

bool Takes(const std::string& text) {
  const auto parsed = ChatTemplate::Parse(text, "", "");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() && TakesTools(**parsed);
}

TEST(ToolSupportTest, TemplatesThatWriteTools) {
  for (const std::string text : {
           "{{ tools | tojson }}",
           "{% for tool in tools %}{{ tool.function.name }}{% endfor %}",
           // With a system prompt alone, and without one alone.
           "{% if messages[0].role == 'system' %}{{ tools | tojson }}{% endif %}",
           "{% if messages[0].role == 'user' %}{{ tools | tojson }}{% endif %}",
           // One that takes no system prompt.
           "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ tools | tojson }}",
       }) {
    EXPECT_TRUE(Takes(text)) << text;
  }
}

TEST(ToolSupportTest, TemplatesThatPassToolsOver) {
  for (const std::string text : {
           "{% for message in messages %}{{ message.content }}{% endfor %}",
           "{% if tools %}you have tools{% endif %}",
           "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{{ messages[0].content }}",
       }) {
    EXPECT_FALSE(Takes(text)) << text;
  }
}

TEST(ToolSupportTest, WhatRefusesTheProbeIsLeftToSpeakForItself) {
  EXPECT_TRUE(Takes("{{ raise_exception('three messages at least') }}"));
}

}  // namespace
}  // namespace headstart::testing
