// Text: an immutable string that knows which of its bytes came from the caller. Every operation on strings keeps that
// knowledge, so that the rendered prompt says exactly which bytes may never become control tokens.
//
// Copies share the bytes. Thread-safety: as for a const std::string.
// Invariant: the caller's ranges are ascending, disjoint, not empty, and inside the bytes.
//
//   Text prompt = Concat(Text("<|user|>"), Text::FromCaller("hi"));   // caller_ranges() == {[8, 10)}

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace headstart::jinja {

enum class Origin { kTemplate, kCaller };

class Text {
 public:
  Text() = default;
  explicit Text(std::string_view bytes, Origin origin = Origin::kTemplate);
  static Text FromCaller(std::string_view bytes) { return Text(bytes, Origin::kCaller); }

  std::string_view bytes() const;
  const std::vector<TextRange>& caller_ranges() const;
  size_t size() const { return bytes().size(); }
  bool empty() const { return bytes().empty(); }
  bool HasCallerBytes() const { return !caller_ranges().empty(); }

  // kCaller as soon as one byte is the caller's: for operations that mix bytes beyond telling them apart.
  Origin origin() const { return HasCallerBytes() ? Origin::kCaller : Origin::kTemplate; }

  // Bytes [begin, end), which must lie inside.
  Text Slice(size_t begin, size_t end) const;

  friend bool operator==(const Text& a, const Text& b) { return a.bytes() == b.bytes(); }

 private:
  friend class TextBuilder;
  struct Rep {
    std::string bytes;
    std::vector<TextRange> caller;
  };
  std::shared_ptr<const Rep> rep_;  // null is the empty string
};

// Puts a Text together. Neighbouring ranges of the caller's become one.
class TextBuilder {
 public:
  void Append(const Text& text) { AppendSlice(text, 0, text.size()); }
  void AppendSlice(const Text& text, size_t begin, size_t end);
  void Append(std::string_view bytes, Origin origin = Origin::kTemplate);

  size_t size() const { return rep_.bytes.size(); }
  Text Take();

 private:
  void MarkCaller(size_t begin, size_t end);

  Text::Rep rep_;
};

// Tells the origin of bytes that are asked for in ascending order.
class OriginCursor {
 public:
  explicit OriginCursor(const Text& text)
      : next_(text.caller_ranges().data()), end_(next_ + text.caller_ranges().size()) {}

  Origin At(size_t offset);

 private:
  const TextRange* next_;
  const TextRange* end_;
};

Text Concat(const Text& a, const Text& b);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_TEXT_H_
