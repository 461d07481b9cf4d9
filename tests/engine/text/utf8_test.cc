#include "engine/text/utf8.h"

#include <string>

#include "gtest/gtest.h"

namespace headstart {
namespace {

TEST(Utf8, RepairReplacesMaximalParts) {
  EXPECT_EQ(RepairUtf8("a\xFF"
                       "b"),
            "a\uFFFDb");
  EXPECT_EQ(RepairUtf8("\xE2\x96"), "\uFFFD");  // one cut-off code point
  EXPECT_EQ(RepairUtf8("\xF0\x9F\x98"
                       "A"),
            "\uFFFDA");                                         // likewise, in the middle
  EXPECT_EQ(RepairUtf8("\xC0\xAF"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(RepairUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(RepairUtf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(RepairUtf8("h\u00e9\u4e16\U0001F600"), "h\u00e9\u4e16\U0001F600");
}

TEST(Utf8, ReadsWhatCouldGoOnAsIncomplete) {
  EXPECT_EQ(ReadUtf8Unit("\xF0\x9F").kind, Utf8Unit::Kind::kIncomplete);
  EXPECT_EQ(ReadUtf8Unit("\xF0\x80").kind, Utf8Unit::Kind::kInvalid);
  EXPECT_EQ(ReadUtf8Unit("\x80").kind, Utf8Unit::Kind::kInvalid);
  EXPECT_EQ(ReadUtf8Unit("\xE4\xB8\x96x").size, 3u);
}

TEST(Utf8, EveryCodePointIsReadAsItWasWritten) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    AppendUtf8(c, text);
    ASSERT_TRUE(IsValidUtf8(text)) << static_cast<uint32_t>(c);
    ASSERT_EQ(FirstCodePoint(text), c);
    ASSERT_EQ(LastCodePoint("a" + text), c);
    ASSERT_EQ(CodePointSize(text[0]), text.size());
  }
}

TEST(Utf8, ValidPrefixEndsBeforeTheFirstFault) {
  EXPECT_EQ(ValidUtf8Prefix("0123456789abcdef\xFFxyz"), 16u);
  EXPECT_EQ(ValidUtf8Prefix("01234567\u00e9\xC3"), 10u);
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
}

}  // namespace
}  // namespace headstart
