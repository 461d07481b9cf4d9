// AnswerText: the text of an answer as it grows: tokens in, whole code points out, up to a stop string.
//
// Thread-safety: none; one per sequence. The tokenizer outlives it.

#ifndef HEADSTART_ENGINE_SCHEDULER_ANSWER_TEXT_H_
#define HEADSTART_ENGINE_SCHEDULER_ANSWER_TEXT_H_

#include <string>
#include <vector>

#include "engine/scheduler/stop_matcher.h"
#include "engine/text/tokenizer.h"

namespace headstart {

class AnswerText {
 public:
  AnswerText(const Tokenizer& tokenizer, const std::vector<std::string>& stops)
      : detokenizer_(tokenizer, /*with_special=*/false, StreamStart::kContinuation), matcher_(stops) {}

  // The text that this token lets through.
  std::string Push(TokenId token) { return matcher_.Push(detokenizer_.Push(token)); }

  // The text held back so far, for an answer that ends here. Nothing after a stop string.
  std::string Finish() {
    std::string text = matcher_.Push(detokenizer_.Finish());
    return matcher_.stopped() ? text : text + matcher_.Finish();
  }

  // A stop string was met: the answer is over.
  bool stopped() const { return matcher_.stopped(); }

 private:
  Detokenizer detokenizer_;
  StopMatcher matcher_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_SCHEDULER_ANSWER_TEXT_H_
