// Text whose marked ranges follow it through edits: normalization moves bytes, and what a caller declared literal must
// stay so.
//
// Thread-safety: none; one editor belongs to one call.
//
//   TextEditor editor(std::move(text));
//   editor.Keep(3);
//   editor.Replace(1, "\u2581");
//   text = std::move(editor).Finish();   // what is left is kept

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_MARKED_TEXT_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_MARKED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/tokenizer.h"

namespace headstart {

struct MarkedText {
  std::string text{};
  std::vector<TextRange> marks{};  // ascending and disjoint
};

// Writes a new text from an old one, front to back. A mark that ends inside a replaced part grows to cover what
// replaces it.
class TextEditor {
 public:
  explicit TextEditor(MarkedText input) : input_(std::move(input)) { output_.text.reserve(input_.text.size()); }

  std::string_view rest() const { return std::string_view(input_.text).substr(read_); }

  // REQUIRES: bytes <= rest().size(), for both.
  void Keep(size_t bytes);
  void Replace(size_t bytes, std::string_view with);

  MarkedText Finish() &&;

 private:
  // Moves the borders of marks that lie before `end` of the input.
  template <typename Place>
  void MoveBorders(size_t end, const Place& place);

  MarkedText input_;
  MarkedText output_;
  size_t read_ = 0;     // bytes of the input that are done
  size_t borders_ = 0;  // borders of marks that are done: mark i has the borders 2i and 2i + 1
};

// The marks that overlap [begin, end), relative to begin.
std::vector<TextRange> MarksWithin(const std::vector<TextRange>& marks, size_t begin, size_t end);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_MARKED_TEXT_H_
