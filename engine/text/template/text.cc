#include "engine/text/template/text.h"

#include <algorithm>
#include <utility>

namespace headstart::jinja {

Text::Text(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  auto rep = std::make_shared<Rep>();
  rep->bytes = bytes;
  if (origin == Origin::kCaller) rep->caller.push_back({0, bytes.size()});
  rep_ = std::move(rep);
}

std::string_view Text::bytes() const { return rep_ ? std::string_view(rep_->bytes) : std::string_view(); }

const std::vector<TextRange>& Text::caller_ranges() const {
  static const std::vector<TextRange> kNone;
  return rep_ ? rep_->caller : kNone;
}

Text Text::Slice(size_t begin, size_t end) const {
  if (begin == 0 && end == size()) return *this;
  TextBuilder builder;
  builder.AppendSlice(*this, begin, end);
  return builder.Take();
}

void TextBuilder::Append(std::string_view bytes, Origin origin) {
  const size_t begin = size();
  rep_.bytes.append(bytes);
  if (origin == Origin::kCaller) MarkCaller(begin, size());
}

void TextBuilder::AppendSlice(const Text& text, size_t begin, size_t end) {
  const size_t shift = size();
  rep_.bytes.append(text.bytes().substr(begin, end - begin));
  const auto& ranges = text.caller_ranges();
  auto range = std::lower_bound(ranges.begin(), ranges.end(), begin,
                                [](const TextRange& r, size_t offset) { return r.end <= offset; });
  for (; range != ranges.end() && range->begin < end; ++range) {
    MarkCaller(shift + std::max(range->begin, begin) - begin, shift + std::min(range->end, end) - begin);
  }
}

void TextBuilder::MarkCaller(size_t begin, size_t end) {
  if (begin == end) return;
  if (!rep_.caller.empty() && rep_.caller.back().end == begin) {
    rep_.caller.back().end = end;
  } else {
    rep_.caller.push_back({begin, end});
  }
}

Text TextBuilder::Take() {
  Text text;
  if (!rep_.bytes.empty()) text.rep_ = std::make_shared<const Text::Rep>(std::move(rep_));
  rep_ = {};
  return text;
}

Origin OriginCursor::At(size_t offset) {
  while (next_ != end_ && next_->end <= offset) ++next_;
  return next_ != end_ && next_->begin <= offset ? Origin::kCaller : Origin::kTemplate;
}

Text Concat(const Text& a, const Text& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  TextBuilder builder;
  builder.Append(a);
  builder.Append(b);
  return builder.Take();
}

}  // namespace headstart::jinja
