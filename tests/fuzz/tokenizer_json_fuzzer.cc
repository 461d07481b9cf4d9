// Any bytes as tokenizer.json: refused with a sentence, or a tokenizer that encodes and decodes without a fault.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"
#include "engine/text/utf8.h"

namespace headstart {
namespace {

constexpr std::string_view kText = "Hello  w\xC3\xB6rld 123\n\t<s> \xF0\x9F\x98\x80\xFF\xE2\x96\x81 don't e\xCC\x81";

void Try(const Tokenizer& tokenizer) {
  const TextRange literal[] = {{3, 9}, {20, 24}};
  for (const bool special : {false, true}) {
    const EncodeOptions options{.add_special_tokens = special, .parse_special = special, .literal = literal};
    const std::vector<TokenId> ids = tokenizer.Encode(kText, options);
    if (!IsValidUtf8(tokenizer.Decode(ids, special))) std::abort();
  }
}

}  // namespace
}  // namespace headstart

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = headstart::ParseTokenizerJson(text, text, "fuzz");
  if (!spec.ok()) return 0;
  const auto tokenizer = headstart::Tokenizer::Create(*spec);
  if (tokenizer.ok()) headstart::Try(**tokenizer);
  return 0;
}
