// The golden data of tests/golden/text: tokenizers, strings, and what the reference makes of them.

#ifndef HEADSTART_TESTS_ENGINE_TEXT_GOLDEN_H_
#define HEADSTART_TESTS_ENGINE_TEXT_GOLDEN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/text/tokenizer.h"

namespace headstart::testing {

struct Goldens {
  struct Sequence {
    std::vector<TokenId> ids;
    std::string text;  // without special tokens
    std::string with_special;
  };
  size_t stride = 1;
  std::vector<std::vector<TokenId>> ids;         // of each stride-th string
  std::map<size_t, std::vector<TokenId>> plain;  // by string: where special tokens are text, if that differs
  std::map<size_t, std::string> decoded;         // by string: if it is not the string
  std::vector<Sequence> sequences;
};

// A tokenizer with what it must give: `name` under `folder`.
struct GoldenCase {
  std::string name;
  std::string tokenizer_json;
  std::string goldens_path;
};

std::string ReadFile(const std::string& path);
std::vector<std::string> ReadCorpus();
Goldens ReadGoldens(const std::string& path);

// The names of the cases in the repository: reduced vocabularies and the variants made from them.
std::vector<std::string> GoldenNames();
GoldenCase ReadGoldenCase(const std::string& name);

absl::StatusOr<std::unique_ptr<const Tokenizer>> MakeTokenizer(const std::string& tokenizer_json,
                                                               const std::string& config_json = "");

std::vector<TokenId> ToIds(const std::vector<int>& ids);

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_ENGINE_TEXT_GOLDEN_H_
