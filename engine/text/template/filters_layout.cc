// Filters that lay text out: indent, center, truncate, wordwrap.

#include <algorithm>

#include "engine/text/template/context.h"
#include "engine/text/template/filters.h"
#include "engine/text/template/operators.h"
#include "engine/text/template/repr.h"
#include "engine/text/template/template_error.h"
#include "engine/text/template/text_operations.h"
#include "engine/text/template/unicode.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

const Text& RequireText(const Value& input, std::string_view filter) {
  if (!input.is_string()) Fail(fmt::format("{} expects a string, not '{}'", filter, TypeName(input)));
  return input.as_text();
}

Text Spaces(Context& context, Int width) { return Pad(context, Text(), width, Alignment::kLeft, Text(" ")); }

void AppendChecked(Context& context, TextBuilder& builder, const Text& text) {
  builder.Append(text);
  if (builder.size() > context.max_bytes()) context.ChargeBytes(builder.size());
}

Value Indent(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "indent", {"width", "first", "blank"});
  const Value width = bound.Get(0, Value(Int{4}));
  const Text indention = width.is_string() ? width.as_text() : Spaces(context, bound.GetInt(0, 4));
  const bool indent_first = bound.GetBool(1, false), indent_blank = bound.GetBool(2, false);
  // A newline more keeps the one at the end.
  const List lines = SplitLines(context, Concat(RequireText(input, "indent"), Text("\n")), LineEnds::kDrop);
  TextBuilder builder;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Text& line = lines[i].as_text();
    if (i > 0) builder.Append("\n");
    if (i == 0 ? indent_first : indent_blank || !line.empty()) AppendChecked(context, builder, indention);
    AppendChecked(context, builder, line);
  }
  context.ChargeBytes(builder.size());
  return Value(builder.Take());
}

Value Center(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "center", {"width"});
  return Value(Pad(context, ToText(context, input), bound.GetInt(0, 80), Alignment::kCenter, Text(" ")));
}

Value Truncate(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "truncate", {"length", "killwords", "end", "leeway"});
  const Text& text = RequireText(input, "truncate");
  const Int length = bound.GetInt(0, 255);
  const Text end = bound.GetText(2, "...");
  const Int leeway = bound.GetOptional(3) ? bound.GetInt(3, 5) : 5;
  const Int end_length = static_cast<Int>(CountCodePoints(end.bytes()));
  context.ChargeBytes(text.size() + end.size());
  if (length < end_length) Fail(fmt::format("expected length >= {}, got {}", end_length, length));
  if (leeway < 0) Fail(fmt::format("expected leeway >= 0, got {}", leeway));
  const std::vector<size_t> offsets = CodePointOffsets(text.bytes());
  if (static_cast<Int>(offsets.size()) - 1 <= length + leeway) return input;
  const Text kept = text.Slice(0, offsets[static_cast<size_t>(length - end_length)]);
  if (bound.GetBool(1, false)) return Value(Concat(kept, end));
  return Value(Concat(SplitFromRight(context, kept, Text(" "), 1)[0].as_text(), end));
}

// One line, wrapped as Python's textwrap does without regard to hyphens.
class Wrapper {
 public:
  Wrapper(const Text& line, size_t width, bool break_long_words)
      : line_(line), width_(width), break_long_words_(break_long_words) {}

  List Run() && {
    SplitChunks();
    for (auto& chunk : chunks_) Place(chunk);
    EndLine();
    return std::move(lines_);
  }

 private:
  struct Chunk {
    size_t begin, end;  // bytes
    size_t length;      // code points
    bool is_space;
  };

  // Runs of spaces and of everything else.
  void SplitChunks() {
    const std::string_view bytes = line_.bytes();
    for (size_t i = 0; i < bytes.size();) {
      const CodePoint c = DecodeAt(bytes, i);
      const bool is_space = c.value < 0x80 && IsSpace(c.value);
      if (chunks_.empty() || chunks_.back().is_space != is_space) chunks_.push_back({i, i, 0, is_space});
      i += c.size;
      chunks_.back().end = i;
      ++chunks_.back().length;
    }
  }

  void Place(Chunk chunk) {
    if (chunk.is_space && length_ == 0 && !lines_.empty()) return;
    if (length_ + chunk.length > width_) {
      if (chunk.length > width_ && break_long_words_) return PlaceBroken(chunk);
      EndLine();
      if (chunk.is_space) return;
    }
    Append(chunk);
  }

  void PlaceBroken(Chunk chunk) {
    const std::vector<size_t> offsets = CodePointOffsets(line_.bytes().substr(chunk.begin, chunk.end - chunk.begin));
    for (size_t at = 0; at < chunk.length;) {
      // A space at the end of the line before a word that is broken stays there, as textwrap has it.
      if (length_ >= width_) EndLine(at == 0 ? Trailing::kKeep : Trailing::kDrop);
      const size_t count = std::min(width_ - length_, chunk.length - at);
      Append({chunk.begin + offsets[at], chunk.begin + offsets[at + count], count, chunk.is_space});
      at += count;
    }
  }

  void Append(const Chunk& chunk) {
    if (length_ == 0) begin_ = chunk.begin;
    end_ = chunk.end;
    length_ += chunk.length;
  }

  enum class Trailing { kDrop, kKeep };
  void EndLine(Trailing trailing = Trailing::kDrop) {
    if (length_ == 0) return;
    Text line = line_.Slice(begin_, end_);
    if (trailing == Trailing::kDrop) line = Strip(line, Side::kRight, std::nullopt);
    if (!line.empty()) lines_.emplace_back(line);
    length_ = 0;
  }

  const Text& line_;
  const size_t width_;
  const bool break_long_words_;
  std::vector<Chunk> chunks_;
  List lines_;
  size_t begin_ = 0, end_ = 0, length_ = 0;
};

Value WordWrap(Context& context, const Value& input, const Arguments& arguments) {
  const auto bound = Bind(arguments, "wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  const Int width = bound.GetInt(0, 79);
  if (width <= 0) Fail(fmt::format("invalid width {} (must be > 0)", width));
  const Text separator = bound.GetOptional(2) ? bound.GetText(2, "\n") : Text("\n");
  List wrapped;
  for (const Value& line : SplitLines(context, RequireText(input, "wordwrap"), LineEnds::kDrop)) {
    context.ChargeItems(line.as_text().size() * Context::kItemsPerStep);
    const List lines =
        Wrapper(line.as_text(), static_cast<size_t>(std::min(width, kNoLimit)), bound.GetBool(1, true)).Run();
    wrapped.emplace_back(JoinTexts(context, separator, lines, JoinItems::kRefuse));
  }
  return Value(JoinTexts(context, separator, wrapped, JoinItems::kRefuse));
}

constexpr NamedFilter kFilters[] = {
    {"indent", Indent}, {"center", Center}, {"truncate", Truncate}, {"wordwrap", WordWrap}};

}  // namespace

std::span<const NamedFilter> LayoutFilters() { return kFilters; }

}  // namespace headstart::jinja
