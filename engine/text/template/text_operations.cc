#include "engine/text/template/text_operations.h"

#include <algorithm>
#include <functional>

#include "engine/text/template/context.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/search.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

// Where the last code point of `bytes` before `end` begins.
size_t LastCodePoint(std::string_view bytes, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(bytes[begin]) & 0xC0) == 0x80) --begin;
  return DecodeAt(bytes, begin).size == end - begin ? begin : end - 1;
}

Text StripIf(const Text& text, Side side, const std::function<bool(char32_t)>& strips) {
  const std::string_view bytes = text.bytes();
  size_t begin = 0, end = bytes.size();
  while (side != Side::kRight && begin < end) {
    const CodePoint c = DecodeAt(bytes, begin);
    if (!strips(c.value)) break;
    begin += c.size;
  }
  while (side != Side::kLeft && end > begin) {
    const size_t last = LastCodePoint(bytes, end);
    if (!strips(DecodeAt(bytes, last).value)) break;
    end = last;
  }
  return text.Slice(begin, end);
}

// A final sigma is one between a cased letter and none; the rest of its rule does not matter to the words templates
// make.
bool IsFinalSigma(std::string_view bytes, size_t offset, size_t size, bool after_letter) {
  return after_letter && (offset + size >= bytes.size() || !IsAlpha(DecodeAt(bytes, offset + size).value));
}

// Calls append(code point, is the first of a word, out) for each code point, and keeps the origins.
template <typename AppendMapped>
Text MapCodePoints(Context& context, const Text& text, AppendMapped append) {
  context.ChargeBytes(text.size());
  const std::string_view bytes = text.bytes();
  OriginCursor origin(text);
  TextBuilder builder;
  std::string mapped;
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint c = DecodeAt(bytes, i);
    mapped.clear();
    append(c.value, i, mapped);
    builder.Append(mapped, origin.At(i));
    i += c.size;
  }
  context.ChargeBytes(builder.size());
  return builder.Take();
}

// Lower case, where a sigma at a word's end is another letter.
class Lowering {
 public:
  explicit Lowering(std::string_view bytes) : bytes_(bytes) {}

  void Append(char32_t c, size_t offset, std::string& out) {
    constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;
    constexpr size_t kSigmaBytes = 2;
    if (c == kSigma && IsFinalSigma(bytes_, offset, kSigmaBytes, after_letter_)) {
      AppendUtf8(kFinalSigma, out);
    } else {
      AppendLower(c, out);
    }
    after_letter_ = IsAlpha(c);
  }
  void Pass(char32_t c) { after_letter_ = IsAlpha(c); }
  void Restart() { after_letter_ = false; }

 private:
  const std::string_view bytes_;
  bool after_letter_ = false;
};

bool BeginsWordInTitleFilter(char32_t c) {
  return IsSpace(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
}

bool IsCased(char32_t c) { return IsUpper(c) || IsLower(c); }

}  // namespace

Text Strip(const Text& text, Side side, const std::optional<Text>& chars) {
  if (!chars) return StripIf(text, side, IsSpace);
  const std::string_view bytes = chars->bytes();
  std::u32string set;
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint c = DecodeAt(bytes, i);
    set.push_back(c.value);
    i += c.size;
  }
  std::sort(set.begin(), set.end());
  return StripIf(text, side, [&](char32_t c) { return std::binary_search(set.begin(), set.end(), c); });
}

Text MapCase(Context& context, const Text& text, CaseMapping mapping) {
  Lowering lower(text.bytes());
  bool after_cased = false;
  return MapCodePoints(context, text, [&](char32_t c, size_t offset, std::string& out) {
    const bool starts_word = mapping == CaseMapping::kTitle ? !after_cased : offset == 0;
    after_cased = IsCased(c);
    if (mapping == CaseMapping::kUpper || (mapping == CaseMapping::kSwap && IsLower(c))) {
      AppendUpper(c, out), lower.Pass(c);
    } else if (mapping == CaseMapping::kSwap && !IsUpper(c)) {
      AppendUtf8(c, out), lower.Pass(c);
    } else if (starts_word && (mapping == CaseMapping::kTitle || mapping == CaseMapping::kCapitalize)) {
      AppendTitle(c, out), lower.Pass(c);
    } else {
      lower.Append(c, offset, out);
    }
  });
}

bool IsAllOfCase(Context& context, const Text& text, CaseMapping mapping) {
  context.ChargeBytes(text.size());
  const auto& wanted = mapping == CaseMapping::kUpper ? IsUpper : IsLower;
  bool found = false;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = DecodeAt(text.bytes(), i);
    if (IsCased(c.value) && !wanted(c.value)) return false;
    found = found || wanted(c.value);
    i += c.size;
  }
  return found;
}

Text TitleFilter(Context& context, const Text& text) {
  Lowering lower(text.bytes());
  bool starts_word = true;
  return MapCodePoints(context, text, [&](char32_t c, size_t offset, std::string& out) {
    if (starts_word) {
      AppendUpper(c, out), lower.Restart();
    } else {
      lower.Append(c, offset, out);
    }
    starts_word = BeginsWordInTitleFilter(c);
  });
}

namespace {

// "" is found between all code points, as in Python.
Text ReplaceNothing(Context& context, const Text& text, const Text& to, Int count) {
  const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
  TextBuilder builder;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (static_cast<Int>(i) < count) builder.Append(to);
    if (i + 1 < offsets.size()) builder.AppendSlice(text, offsets[i], offsets[i + 1]);
    if (builder.size() > context.max_bytes()) context.ChargeBytes(builder.size());
  }
  context.ChargeBytes(builder.size());
  return builder.Take();
}

}  // namespace

Text Replace(Context& context, const Text& text, const Text& from, const Text& to, Int count) {
  context.ChargeBytes(text.size());
  if (count < 0) count = kNoLimit;
  if (from.empty()) return ReplaceNothing(context, text, to, count);
  TextBuilder builder;
  size_t at = 0;
  for (Int done = 0; done < count; ++done) {
    const size_t found = FindBytes(text.bytes(), from.bytes(), at);
    if (found == std::string_view::npos) break;
    builder.AppendSlice(text, at, found);
    builder.Append(to);
    at = found + from.size();
    if (builder.size() > context.max_bytes()) context.ChargeBytes(builder.size());
  }
  builder.AppendSlice(text, at, text.size());
  context.ChargeBytes(builder.size());
  return builder.Take();
}

namespace {

List SplitAtSpace(const Text& text, Int count) {
  const std::string_view bytes = text.bytes();
  const auto skip = [&](size_t i, bool space) {
    while (i < bytes.size()) {
      const CodePoint c = DecodeAt(bytes, i);
      if (IsSpace(c.value) != space) break;
      i += c.size;
    }
    return i;
  };
  List words;
  size_t at = skip(0, true);
  while (at < bytes.size()) {
    if (static_cast<Int>(words.size()) >= count) {
      words.emplace_back(text.Slice(at, bytes.size()));
      break;
    }
    const size_t end = skip(at, false);
    words.emplace_back(text.Slice(at, end));
    at = skip(end, true);
  }
  return words;
}

List SplitAtSpaceFromRight(const Text& text, Int count) {
  const std::string_view bytes = text.bytes();
  const auto skip_back = [&](size_t i, bool space) {
    while (i > 0) {
      const size_t last = LastCodePoint(bytes, i);
      if (IsSpace(DecodeAt(bytes, last).value) != space) break;
      i = last;
    }
    return i;
  };
  List words;
  size_t end = skip_back(bytes.size(), true);
  while (end > 0) {
    if (static_cast<Int>(words.size()) >= count) {
      words.emplace_back(text.Slice(0, end));
      break;
    }
    const size_t begin = skip_back(end, false);
    words.emplace_back(text.Slice(begin, end));
    end = skip_back(begin, true);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

void RequireSeparator(const Text& separator) {
  if (separator.empty()) Fail("empty separator");
}

}  // namespace

List Split(Context& context, const Text& text, const std::optional<Text>& separator, Int count) {
  context.ChargeBytes(text.size());
  if (count < 0) count = kNoLimit;
  List parts;
  if (!separator) {
    parts = SplitAtSpace(text, count);
  } else {
    RequireSeparator(*separator);
    size_t at = 0;
    while (static_cast<Int>(parts.size()) < count) {
      const size_t found = FindBytes(text.bytes(), separator->bytes(), at);
      if (found == std::string_view::npos) break;
      parts.emplace_back(text.Slice(at, found));
      at = found + separator->size();
    }
    parts.emplace_back(text.Slice(at, text.size()));
  }
  context.ChargeItems(parts.size() * Context::kItemsPerStep);  // an allocation each
  return parts;
}

List SplitFromRight(Context& context, const Text& text, const std::optional<Text>& separator, Int count) {
  if (count < 0) return Split(context, text, separator, count);
  context.ChargeBytes(text.size());
  if (!separator) return SplitAtSpaceFromRight(text, count);
  RequireSeparator(*separator);
  List parts;
  size_t end = text.size();
  while (static_cast<Int>(parts.size()) < count) {
    const size_t found = FindLastBytes(text.bytes().substr(0, end), separator->bytes());
    if (found == std::string_view::npos) break;
    parts.emplace_back(text.Slice(found + separator->size(), end));
    end = found;
    context.ChargeBytes(separator->size() + Context::kBytesPerStep);
  }
  parts.emplace_back(text.Slice(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

List SplitLines(Context& context, const Text& text, LineEnds ends) {
  context.ChargeBytes(text.size());
  const std::string_view bytes = text.bytes();
  const auto is_end = [](char32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
  };
  List lines;
  size_t begin = 0;
  for (size_t i = 0; i < bytes.size();) {
    const CodePoint c = DecodeAt(bytes, i);
    const size_t line_end = i;
    i += c.size;
    if (!is_end(c.value)) continue;
    if (c.value == '\r' && i < bytes.size() && bytes[i] == '\n') ++i;
    lines.emplace_back(text.Slice(begin, ends == LineEnds::kKeep ? i : line_end));
    begin = i;
  }
  if (begin < bytes.size()) lines.emplace_back(text.Slice(begin, bytes.size()));
  context.ChargeItems(lines.size() * Context::kItemsPerStep);
  return lines;
}

Text JoinTexts(Context& context, const Text& separator, const List& items, JoinItems convert) {
  TextBuilder builder;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) builder.Append(separator);
    if (convert == JoinItems::kRefuse && !items[i].is_string()) {
      Fail(fmt::format("sequence item {}: expected str instance, {} found", i, TypeName(items[i])));
    }
    builder.Append(ToText(context, items[i]));
    if (builder.size() > context.max_bytes()) context.ChargeBytes(builder.size());
  }
  context.ChargeBytes(builder.size());
  context.ChargeItems(items.size());
  return builder.Take();
}

Text Pad(Context& context, const Text& text, Int width, Alignment alignment, const Text& fill) {
  if (CountCodePoints(fill.bytes()) != 1) Fail("The fill character must be exactly one character long");
  const Int missing = width - static_cast<Int>(CountCodePoints(text.bytes()));
  if (missing <= 0) return text;
  if (missing > static_cast<Int>(context.max_bytes())) context.ChargeBytes(context.max_bytes() + 1);
  context.ChargeBytes(text.size() + static_cast<size_t>(missing) * fill.size());
  // An odd space is on the left where the width is odd too, as in Python.
  const Int half = missing / 2 + (missing & width & 1);
  const Int left = alignment == Alignment::kCenter ? half : (alignment == Alignment::kRight ? missing : 0);
  TextBuilder builder;
  for (Int i = 0; i < left; ++i) builder.Append(fill);
  builder.Append(text);
  for (Int i = left; i < missing; ++i) builder.Append(fill);
  return builder.Take();
}

}  // namespace headstart::jinja
