// StopMatcher: finds stop strings in a text that arrives in pieces. Text that may be the beginning of a stop string is
// held back until it is known not to be one; a stop string and what follows it are never let through.
//
// Thread-safety: none; one per sequence.
//
// The first stop string to be complete wins, wherever the text was cut into pieces; of several complete at the same
// byte, the longest.
//
//   StopMatcher matcher({"\n\n"});
//   matcher.Push("one\n")    // "one"
//   matcher.Push("two\n\n")  // "\ntwo", and matcher.stopped()

#ifndef HEADSTART_ENGINE_SCHEDULER_STOP_MATCHER_H_
#define HEADSTART_ENGINE_SCHEDULER_STOP_MATCHER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headstart {

class StopMatcher {
 public:
  // REQUIRES: no string is empty.
  explicit StopMatcher(const std::vector<std::string>& stops);

  // The text that is now known to belong to the answer. Empty once stopped.
  std::string Push(std::string_view piece);

  // The text held back, when the answer ends without a stop string.
  std::string Finish();

  bool stopped() const { return stopped_; }

 private:
  // One stop string as a Knuth-Morris-Pratt automaton: each byte costs amortised constant time, whatever the strings.
  struct Pattern {
    std::string text;
    std::vector<size_t> fallback;  // fallback[n]: the longest proper border of the first n bytes
    size_t matched = 0;            // bytes of `text` that the stream now ends with
  };

  static Pattern Compile(const std::string& text);
  static void Advance(Pattern& pattern, char byte);

  std::vector<Pattern> patterns_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_STOP_MATCHER_H_
