#include "engine/text/internal/marked_text.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/text/internal/normalizer.h"
#include "gtest/gtest.h"
#include "tests/testing/status.h"

namespace headstart {
namespace {

// The marked parts of a text, each in brackets.
std::string Show(const MarkedText& text) {
  std::string shown = text.text;
  for (auto mark = text.marks.rbegin(); mark != text.marks.rend(); ++mark) {
    shown.insert(mark->end, "]");
    shown.insert(mark->begin, "[");
  }
  return shown;
}

std::string Normalized(std::vector<NormalizerStep> steps, MarkedText text) {
  const auto normalizer = Normalizer::Create(steps);
  EXPECT_OK(normalizer);
  return Show(normalizer->Apply(std::move(text)));
}

TEST(TextEditor, MarksFollowTheirText) {
  TextEditor editor({"abcdef", {{1, 3}, {4, 6}}});
  editor.Replace(0, "__");
  editor.Keep(1);
  editor.Replace(1, "BBB");
  EXPECT_EQ(Show(std::move(editor).Finish()), "__a[BBBc]d[ef]");
}

TEST(TextEditor, AMarkThatEndsInAReplacedPartCoversItAll) {
  TextEditor editor({"abcd", {{1, 2}}});
  editor.Replace(3, "xyz");
  EXPECT_EQ(Show(std::move(editor).Finish()), "[xyz]d");
}

TEST(TextEditor, AMarkOfTheWholeTextStaysSo) {
  TextEditor editor({"ab", {{0, 2}}});
  editor.Replace(2, "");
  EXPECT_EQ(Show(std::move(editor).Finish()), "[]");
}

TEST(MarksWithin, CutsMarksToTheRange) {
  const std::vector<TextRange> within = MarksWithin({{0, 2}, {3, 8}, {9, 10}}, 2, 9);
  ASSERT_EQ(within.size(), 1u);
  EXPECT_EQ(within[0].begin, 1u);
  EXPECT_EQ(within[0].end, 6u);
}

TEST(Normalizer, EveryStepMovesMarks) {
  using Kind = NormalizerStep::Kind;
  EXPECT_EQ(Normalized({{.kind = Kind::kPrepend, .content = "_"}}, {"ab", {{0, 1}}}), "_[a]b");
  EXPECT_EQ(Normalized({{Kind::kReplace, {.text = " "}, "__"}}, {"a b c", {{2, 4}}}), "a__[b__]c");
  EXPECT_EQ(Normalized({{Kind::kReplace, {"[0-9]+", true}, "#"}}, {"x123y4", {{0, 2}, {4, 6}}}), "[x#][y#]");
  EXPECT_EQ(Normalized({{.kind = Kind::kNfc}}, {"xe\u0301y", {{4, 5}}}), "x\u00e9[y]");
  EXPECT_EQ(Normalized({{.kind = Kind::kNfc}}, {"xe\u0301y", {{2, 4}}}), "x[\u00e9]y");
  EXPECT_EQ(Normalized({{.kind = Kind::kStripLeft}, {.kind = Kind::kStripRight}}, {" \u3000ab  ", {{4, 6}}}), "[ab]");
}

}  // namespace
}  // namespace headstart
