// The parts of tokenizer.json that say how text is cut up and put together again.
//
// Thread-safety: pure functions. Errors go to the view's status.

#ifndef HEADSTART_ENGINE_TEXT_INTERNAL_TOKENIZER_JSON_STEPS_H_
#define HEADSTART_ENGINE_TEXT_INTERNAL_TOKENIZER_JSON_STEPS_H_

#include "engine/text/internal/json_view.h"
#include "engine/text/tokenizer_spec.h"

namespace headstart {

// `normalizer`
void ReadNormalizer(const JsonView& field, TokenizerSpec& spec);

// `pre_tokenizer`; sets the spec's kind as well.
void ReadPreTokenizer(const JsonView& field, TokenizerSpec& spec);

// `post_processor`: what goes before and after the text.
void ReadPostProcessor(const JsonView& field, TokenizerSpec& spec);

// `decoder`. REQUIRES: the pre-tokenizer was read.
void ReadDecoder(const JsonView& field, TokenizerSpec& spec);

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_INTERNAL_TOKENIZER_JSON_STEPS_H_
