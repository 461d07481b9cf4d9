#include "engine/text/internal/marked_text.h"

#include <algorithm>
#include <limits>

namespace headstart {

template <typename Place>
void TextEditor::MoveBorders(size_t end, const Place& place) {
  for (; borders_ < 2 * input_.marks.size(); ++borders_) {
    const TextRange& mark = input_.marks[borders_ / 2];
    const bool is_begin = borders_ % 2 == 0;
    const size_t border = is_begin ? mark.begin : mark.end;
    if (border >= end) return;
    const size_t moved = place(border, is_begin);
    if (is_begin) {
      output_.marks.push_back({moved, moved});
    } else {
      output_.marks.back().end = moved;
    }
  }
}

void TextEditor::Keep(size_t bytes) {
  const size_t written = output_.text.size();
  MoveBorders(read_ + bytes, [&](size_t border, bool) { return written + border - read_; });
  output_.text.append(rest().substr(0, bytes));
  read_ += bytes;
}

void TextEditor::Replace(size_t bytes, std::string_view with) {
  const size_t written = output_.text.size();
  MoveBorders(read_ + bytes, [&](size_t border, bool is_begin) {
    return is_begin || border == read_ ? written : written + with.size();
  });
  output_.text.append(with);
  read_ += bytes;
}

MarkedText TextEditor::Finish() && {
  Keep(rest().size());
  MoveBorders(std::numeric_limits<size_t>::max(), [&](size_t, bool) { return output_.text.size(); });
  return std::move(output_);
}

std::vector<TextRange> MarksWithin(const std::vector<TextRange>& marks, size_t begin, size_t end) {
  std::vector<TextRange> within;
  const auto ends_before = [](const TextRange& mark, size_t at) { return mark.end <= at; };
  for (auto it = std::lower_bound(marks.begin(), marks.end(), begin, ends_before); it != marks.end() && it->begin < end;
       ++it) {
    within.push_back({std::max(it->begin, begin) - begin, std::min(it->end, end) - begin});
  }
  return within;
}

}  // namespace headstart
