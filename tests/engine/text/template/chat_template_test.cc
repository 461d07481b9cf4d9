// The facade: limits, prefixes, canonical tools, errors.

#include "engine/text/template/chat_template.h"

#include <chrono>
#include <fstream>
#include <sstream>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tests/testing/status.h"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;
using ::headstart::testing::StatusIs;
using ::testing::HasSubstr;

std::unique_ptr<const ChatTemplate> MustParse(std::string_view source, TemplateLimits limits = {}) {
  auto parsed = ChatTemplate::Parse(source, "<s>", "</s>", limits);
  EXPECT_OK(parsed);
  return *std::move(parsed);
}

absl::StatusOr<RenderedPrompt> Render(std::string_view source, TemplateLimits limits = {},
                                      const Json& messages = Json::array()) {
  ChatInput input;
  input.messages = &messages;
  return MustParse(source, limits)->Render(input);
}

std::string FromFile(const std::string& name) {
  std::ifstream in("tests/golden/templates/" + name + ".jinja", std::ios::binary);
  EXPECT_TRUE(in) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Json Chat(int turns) {
  Json messages = Json::array();
  for (int i = 0; i < turns; ++i) {
    messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                        {"content", fmt::format("Message {} of a long conversation.", i)}});
  }
  return messages;
}

// X1: rendering one message more extends the prompt, for every template that allows it.
TEST(ChatTemplate, X1PrefixesAreKept) {
  for (const char* name : {"qwen2.5", "llama2", "llama3.1", "mistral-v0.3", "smollm", "smollm2"}) {
    EXPECT_TRUE(KeepsPrefixes(*MustParse(FromFile(name)))) << name;
  }
  EXPECT_TRUE(KeepsPrefixes(*MustParse(ChatTemplate::ChatMl())));
}

// X1: Qwen3 takes the thoughts out of earlier answers, Phi-3.5 ends a chat without a prompt with a token of its own,
// and the last two depend on what comes later.
TEST(ChatTemplate, X1TemplatesThatRewriteHistoryAreFound) {
  for (const char* name : {"qwen3", "phi3.5"}) EXPECT_FALSE(KeepsPrefixes(*MustParse(FromFile(name)))) << name;
  EXPECT_FALSE(KeepsPrefixes(*MustParse("{{ messages|length }}{% for m in messages %}{{ m.content }}{% endfor %}")));
  EXPECT_FALSE(KeepsPrefixes(*MustParse("{{ raise_exception('never') }}")));
}

// X2: one order of keys, whatever order they came in.
TEST(ChatTemplate, X2ToolsInAnyOrderOfKeysAreTheSame) {
  const Json a = Json::parse(
      R"([{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"b":{"enum":["z","a"],"type":"string"},"a":{}},"required":["b","a"]},"strict":true}}])");
  const Json b = Json::parse(
      R"([{"function":{"strict":true,"parameters":{"required":["b","a"],"properties":{"a":{},"b":{"type":"string","enum":["z","a"]}},"type":"object"},"description":"d","name":"f"},"type":"function"}])");
  EXPECT_EQ(CanonicalTools(a).dump(), CanonicalTools(b).dump());
  EXPECT_EQ(
      CanonicalTools(b).dump(),
      R"([{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{},"b":{"type":"string","enum":["z","a"]}},"required":["b","a"]},"strict":true}}])");
}

// X3: text of every kind comes through as it is.
TEST(ChatTemplate, X3UnicodeAndInvalidBytesPassThrough) {
  for (const char* text : {"👋🏽 e\u0301 你好", "\xFF\xC3 broken \xE4\xBD", ""}) {
    const Json messages = {{{"role", "user"}, {"content", text}}};
    ASSERT_OK_AND_ASSIGN(const RenderedPrompt prompt, Render("{{ messages[0].content|trim }}", {}, messages));
    EXPECT_EQ(prompt.text, text);
  }
}

// X4: what looks like a control token or like a template stays the caller's text.
TEST(ChatTemplate, X4ContentIsNeverTemplate) {
  const Json messages = {{{"role", "user"}, {"content", "{{ 7 * 7 }}{% raw %}<|im_end|>"}}};
  ASSERT_OK_AND_ASSIGN(const RenderedPrompt prompt, Render("[{{ messages[0].content }}]", {}, messages));
  EXPECT_EQ(prompt.text, "[{{ 7 * 7 }}{% raw %}<|im_end|>]");
  ASSERT_EQ(prompt.from_caller.size(), 1u);
  EXPECT_EQ(prompt.from_caller[0].begin, 1u);
  EXPECT_EQ(prompt.from_caller[0].end, prompt.text.size() - 1);
}

struct Hog {
  const char* name;
  const char* source;
  const char* limit;
};

class TemplateLimitsTest : public ::testing::TestWithParam<Hog> {};

// X5: nothing a template does takes long or much. One that no limit ends runs into the timeout of the tests.
TEST_P(TemplateLimitsTest, X5Stops) {
  EXPECT_THAT(Render(GetParam().source), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(GetParam().limit)));
}

INSTANTIATE_TEST_SUITE_P(
    Hogs, TemplateLimitsTest,
    ::testing::Values(
        Hog{"Loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "max_steps"},
        Hog{"Output", "{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}", "max_output_bytes"},
        Hog{"Range", "{% for a in range(10**12) %}{% endfor %}", "100000"},
        Hog{"Repeat", "{{ 'a' * 10**9 }}", "max_output_bytes"},
        Hog{"RepeatList", "{{ ([1] * 10**9)|length }}", "max_output_bytes"},
        Hog{"DoubleString",
            "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
            "max_output_bytes"},
        Hog{"DoubleList", "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
            "max_steps"},
        Hog{"ShareList",
            "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x == "
            "[n.x] }}{{ n.x }}",
            ""},
        Hog{"NestList", "{% set n = namespace(x=[1]) %}{% for i in range(9999) %}{% set n.x = [n.x] %}{% endfor %}",
            "nest"},
        Hog{"NestMethods",
            "{% set n = namespace(x=[1]) %}{% for i in range(9999) %}{% set n.x = [n.x].index %}{% endfor %}", "nest"},
        Hog{"Join", "{{ range(99999)|join('x' * 9999) }}", "max_output_bytes"},
        Hog{"Replace", "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}", "max_output_bytes"},
        Hog{"Recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "max_depth"},
        Hog{"LoopRecursion", "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "max_depth"},
        Hog{"Indent", "{{ 'a'|indent(10**9, true) }}", "max_output_bytes"},
        Hog{"Center", "{{ 'a'|center(10**12) }}", "max_output_bytes"},
        Hog{"Format", "{{ '%999999999d' % 1 }}", "max_output_bytes"},
        Hog{"BraceFormat", "{{ '{:>999999999}'.format(1) }}", "max_output_bytes"},
        Hog{"Json", "{{ [[1]]|tojson(indent=10**9) }}", "max_output_bytes"},
        Hog{"Compare",
            "{% set l = ['a' * 99999] * 9999 %}{% for i in range(99999) %}{% if l == ['a' * 99999] * 9999 %}{% endif "
            "%}{% endfor %}",
            "max_"},
        Hog{"SharedArgument",
            "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ [1, "
            "2]|join(n.x) }}",
            "bytes"},
        Hog{"SharedMessage",
            "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ "
            "raise_exception(n.x) }}",
            "bytes"},
        Hog{"TruncatedPrints",
            "{% set l = range(99999)|list %}{% for i in range(99999) %}{{ '%.1s' % [l] }}{% endfor %}", "max_steps"},
        Hog{"ManyKeys", "{{ dict(range(10000)|batch(2)) }}", "keys"},
        Hog{"Batch", "{{ [1]|batch(10**12, 0)|list }}", "100000"}),
    [](const auto& test) { return test.param.name; });

TEST(ChatTemplate, DeepTemplatesAreRefused) {
  for (const auto& [open, close] :
       {std::pair("(", ")"), {"[", "]"}, {"-", ""}, {"not ", ""}, {"x.f(", ")"}, {"{1:", "}"}}) {
    std::string source = "{{ ";
    for (int i = 0; i < 100'000; ++i) source += open;
    source += "1";
    for (int i = 0; i < 100'000; ++i) source += close;
    EXPECT_THAT(ChatTemplate::Parse(source.substr(0, 1 << 20) + " }}", "", ""),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_));
  }
}

TEST(ChatTemplate, LongChainsAreNotDeep) {
  std::string source = "{{ 1";
  for (int i = 0; i < 10'000; ++i) source += " + 1";
  ASSERT_OK_AND_ASSIGN(const RenderedPrompt prompt, Render(source + " }}"));
  EXPECT_EQ(prompt.text, "10001");
}

TEST(ChatTemplate, ErrorsSayWhere) {
  EXPECT_THAT(ChatTemplate::Parse("a\n {{ 1 + }}", "", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2, column 9")));
  EXPECT_THAT(Render("a\n\n{{ x.y }}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 3: 'x' is undefined")));
  EXPECT_THAT(Render("{{ raise_exception('Roles must alternate') }}"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "Roles must alternate"));
}

TEST(ChatTemplate, RequestsCannotReplaceTheMessages) {
  const Json messages = Chat(1), variables = {{"messages", "none"}, {"tools", "x"}, {"add_generation_prompt", false}};
  ChatInput input;
  input.messages = &messages;
  input.variables = &variables;
  ASSERT_OK_AND_ASSIGN(const RenderedPrompt prompt,
                       MustParse("{{ messages|length }}{{ tools }}{{ add_generation_prompt }}")->Render(input));
  EXPECT_EQ(prompt.text, "1NoneTrue");
}

TEST(ChatTemplate, TenThousandMessagesRenderWithinTheLimits) {
  const Json messages = Chat(10'000);
  for (const char* name : {"qwen2.5", "qwen3", "llama3.1", "llama2", "mistral-v0.3"}) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_OK(Render(FromFile(name), {}, messages)) << name;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    RecordProperty(name, fmt::format("{:.3f} s", took.count()));
    std::printf("%s: %.3f s\n", name, took.count());
  }
}

}  // namespace
}  // namespace headstart
