// Normalizer: a spec's normalizer steps, ready to run.
//
// Thread-safety: immutable after Create.
// Errors: Create refuses a pattern that does not compile. Apply cannot fail; its text must be valid UTF-8.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_NORMALIZER_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_NORMALIZER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/internal/marked_text.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

class Normalizer {
 public:
  static absl::StatusOr<Normalizer> Create(const std::vector<NormalizerStep>& steps);

  MarkedText Apply(MarkedText text) const;

 private:
  std::vector<std::function<MarkedText(MarkedText)>> steps_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_NORMALIZER_H_
