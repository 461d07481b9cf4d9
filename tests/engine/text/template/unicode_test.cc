#include "engine/text/template/unicode.h"

#include "gtest/gtest.h"

namespace headstart::jinja {
namespace {

std::string Upper(char32_t c) {
  std::string out;
  AppendUpper(c, out);
  return out;
}

std::string Lower(char32_t c) {
  std::string out;
  AppendLower(c, out);
  return out;
}

std::string Title(char32_t c) {
  std::string out;
  AppendTitle(c, out);
  return out;
}

// What Python 3.11 answers to the same code points.
TEST(UnicodeTest, PropertiesAreThoseOfPython) {
  EXPECT_TRUE(IsAlpha(U'ª') && IsAlpha(U'ʰ') && IsAlpha(U'字') && IsAlpha(U'ǅ'));
  EXPECT_FALSE(IsAlpha(U'Ⅷ') || IsAlpha(U'\u0301') || IsAlpha(U'7') || IsAlpha(U'_'));
  EXPECT_TRUE(IsDecimal(U'7') && IsDecimal(U'٣') && IsDecimal(U'７'));
  EXPECT_FALSE(IsDecimal(U'²') || IsDecimal(U'½') || IsDecimal(U'Ⅷ'));
  EXPECT_TRUE(IsUpper(U'Ⅷ') && IsUpper(U'Ⓐ') && IsUpper(U'Ω'));
  EXPECT_FALSE(IsUpper(U'ǅ') || IsUpper(U'字'));
  EXPECT_TRUE(IsLower(U'ª') && IsLower(U'ⅷ') && IsLower(U'ß'));
  EXPECT_FALSE(IsLower(U'ǅ') || IsLower(U'字'));
}

TEST(UnicodeTest, CaseMappingsMayGrow) {
  EXPECT_EQ(Upper(U'ß'), "SS");
  EXPECT_EQ(Title(U'ß'), "Ss");
  EXPECT_EQ(Upper(U'ﬃ'), "FFI");
  EXPECT_EQ(Title(U'ﬃ'), "Ffi");
  EXPECT_EQ(Upper(U'ΐ'), "\u0399\u0308\u0301");
  EXPECT_EQ(Lower(U'İ'), "i\u0307");
  EXPECT_EQ(Title(U'ǆ'), "ǅ");
  EXPECT_EQ(Upper(U'ǅ'), "Ǆ");
}

TEST(UnicodeTest, CaseMappingsKnowNoLanguage) {
  EXPECT_EQ(Upper(U'i'), "I");
  EXPECT_EQ(Lower(U'I'), "i");
  EXPECT_EQ(Lower(U'Σ'), "σ");
  EXPECT_EQ(Upper(U'字'), "字");
  EXPECT_EQ(Upper(U'𐐨'), "𐐀");
}

TEST(UnicodeTest, BytesThatAreNotUtf8PassThrough) {
  for (char32_t byte = 0x80; byte <= 0xFF; ++byte) {
    const char32_t c = kInvalidByte + byte;
    const std::string same(1, static_cast<char>(byte));
    EXPECT_EQ(Upper(c), same);
    EXPECT_EQ(Lower(c), same);
    EXPECT_EQ(Title(c), same);
    EXPECT_FALSE(IsAlpha(c) || IsDecimal(c) || IsUpper(c) || IsLower(c) || IsSpace(c));
  }
}

TEST(UnicodeTest, EveryLetterThatHasCasesHasMappings) {
  for (char32_t c = 0; c < 0x20000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    ASSERT_FALSE(Upper(c).empty() || Lower(c).empty() || Title(c).empty()) << std::hex << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace headstart::jinja
