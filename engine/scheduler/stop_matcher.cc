#include "engine/scheduler/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace headstart {

StopMatcher::StopMatcher(const std::vector<std::string>& stops) {
  patterns_.reserve(stops.size());
  for (const std::string& stop : stops) patterns_.push_back(Compile(stop));
}

StopMatcher::Pattern StopMatcher::Compile(const std::string& text) {
  Pattern pattern{.text = text, .fallback = std::vector<size_t>(text.size() + 1, 0)};
  for (size_t n = 2; n <= text.size(); ++n) {
    size_t border = pattern.fallback[n - 1];
    while (border > 0 && text[border] != text[n - 1]) border = pattern.fallback[border];
    pattern.fallback[n] = text[border] == text[n - 1] ? border + 1 : 0;
  }
  return pattern;
}

void StopMatcher::Advance(Pattern& pattern, char byte) {
  while (pattern.matched > 0 && pattern.text[pattern.matched] != byte) {
    pattern.matched = pattern.fallback[pattern.matched];
  }
  if (pattern.text[pattern.matched] == byte) ++pattern.matched;
}

std::string StopMatcher::Push(std::string_view piece) {
  if (stopped_) return {};
  size_t may_be_stop = 0;
  for (const char byte : piece) {
    held_ += byte;
    may_be_stop = 0;
    size_t complete = 0;
    for (Pattern& pattern : patterns_) {
      Advance(pattern, byte);
      may_be_stop = std::max(may_be_stop, pattern.matched);
      if (pattern.matched == pattern.text.size()) complete = std::max(complete, pattern.matched);
    }
    if (complete == 0) continue;
    stopped_ = true;
    held_.resize(held_.size() - complete);
    return std::exchange(held_, {});
  }
  if (piece.empty()) return {};
  std::string kept = held_.substr(held_.size() - may_be_stop);
  held_.resize(held_.size() - may_be_stop);
  return std::exchange(held_, std::move(kept));
}

std::string StopMatcher::Finish() { return std::exchange(held_, {}); }

}  // namespace headstart
