// Tokenizer: text to token ids and back, with the ids that the Hugging Face tokenizer gives for the same model.
//
// Thread-safety: a Tokenizer is immutable after Create; any number of threads may use one.
// Errors: Create refuses a spec that is inconsistent or not supported. Encode never fails: invalid UTF-8 is encoded as
// the reference does (U+FFFD replacement).
//
//   auto ids = tokenizer->Encode("Hello", {.add_special_tokens = true});
//   Detokenizer stream(*tokenizer);
//   std::string text = stream.Push(ids[0]);   // only whole code points

#ifndef HEADSTART_ENGINE_TEXT_TOKENIZER_H_
#define HEADSTART_ENGINE_TEXT_TOKENIZER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer_spec.h"
#include "prefix_store/types.h"

namespace headstart {

// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin = 0;
  size_t end = 0;
};

struct EncodeOptions {
  bool add_special_tokens = false;  // BOS and EOS as the model's rules say
  bool parse_special = false;       // text that spells a control token becomes that token
  // With parse_special: ranges, ascending and disjoint, where it does not (what users wrote inside a rendered
  // template): a control token that has so much as one byte in such a range is text. Splitting into words and merging
  // run across their edges as if they were not there.
  std::span<const TextRange> literal{};
};

class Tokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<const Tokenizer>> Create(const TokenizerSpec& spec);
  virtual ~Tokenizer() = default;

  // No ordinary text becomes a control token, other than the one for unknown characters. A text of n bytes takes
  // O(n log n), whatever it is.
  virtual std::vector<TokenId> Encode(std::string_view text, const EncodeOptions& options) const = 0;

  // The bytes a token stands for, not necessarily whole code points; none for an id without a token. Control tokens
  // give their text only if asked.
  virtual std::string TokenBytes(TokenId token, bool with_special) const = 0;

  // The text of a whole sequence, as the Hugging Face tokenizer's decode without clean-up; invalid UTF-8 as U+FFFD.
  // One difference: of a run of <0xNN> tokens that is not valid UTF-8 as a whole, the code points that are whole stay,
  // since a stream has shown them already; the reference gives up the whole run.
  std::string Decode(std::span<const TokenId> tokens, bool with_special) const;

  virtual int vocab_size() const = 0;  // one more than the greatest id
  virtual bool IsSpecial(TokenId token) const = 0;
  virtual const TokenizerSpec& spec() const = 0;
};

// Where a stream of tokens begins.
enum class StreamStart {
  kText,          // at the start of a text: a SentencePiece model's leading space is not part of it
  kContinuation,  // after other tokens of the same text: every space counts
};

// Turns a stream of tokens into a stream of text whose pieces are valid UTF-8 and concatenate to Decode of all of them
// (for StreamStart::kText).
//
// Thread-safety: none. The tokenizer outlives it.
class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, bool with_special = false, StreamStart start = StreamStart::kText);

  // The text that this token completes; empty while a code point is open.
  std::string Push(TokenId token);

  // What is left when the stream ends: an incomplete code point as U+FFFD.
  std::string Finish();

 private:
  std::string BytesOf(TokenId token);
  std::string TakeText(bool at_end);
  void AppendInvalid(size_t bytes, std::string& text) const;
  void StripLeadingSpaces(std::string& text);

  const Tokenizer& tokenizer_;
  bool with_special_;
  bool at_first_token_;
  int spaces_to_strip_;
  std::string open_bytes_;
};

}  // namespace headstart

#endif  // HEADSTART_ENGINE_TEXT_TOKENIZER_H_
