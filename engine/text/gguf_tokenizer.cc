#include "engine/text/gguf_tokenizer.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "engine/text/internal/well_known.h"
#include "fmt/format.h"

namespace headstart {
namespace {

constexpr std::string_view kMetaspace = "\xE2\x96\x81";  // U+2581, SentencePiece's space

template <typename List>
absl::Status CheckSize(const List& list, std::string_view key, size_t vocabulary) {
  if (list.empty() || list.size() == vocabulary) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("tokenizer.ggml.{} has {} entries, tokenizer.ggml.tokens has {}", key, list.size(), vocabulary));
}

absl::Status CheckId(std::optional<uint32_t> id, std::string_view key, size_t vocabulary) {
  if (!id.has_value() || *id < vocabulary) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("tokenizer.ggml.{} is {}, outside the vocabulary of {}", key, *id, vocabulary));
}

absl::Status Check(const GgufTokenizerMetadata& metadata) {
  const size_t vocabulary = metadata.tokens.size();
  absl::Status status;
  if (vocabulary == 0) status = absl::InvalidArgumentError("tokenizer.ggml.tokens is missing or empty");
  status.Update(CheckSize(metadata.scores, "scores", vocabulary));
  status.Update(CheckSize(metadata.token_types, "token_type", vocabulary));
  status.Update(CheckId(metadata.bos_token_id, "bos_token_id", vocabulary));
  status.Update(CheckId(metadata.eos_token_id, "eos_token_id", vocabulary));
  status.Update(CheckId(metadata.unknown_token_id, "unknown_token_id", vocabulary));
  return status;
}

std::optional<TokenId> ToToken(std::optional<uint32_t> id) {
  return id.has_value() ? std::optional(TokenId{static_cast<int32_t>(*id)}) : std::nullopt;
}

bool IsAdded(GgufTokenType type) {
  return type == GgufTokenType::kControl || type == GgufTokenType::kUnknown || type == GgufTokenType::kUserDefined;
}

void AddTokens(const GgufTokenizerMetadata& metadata, TokenizerSpec& spec) {
  spec.vocabulary = metadata.tokens;
  for (size_t i = 0; i < metadata.token_types.size(); ++i) {
    const auto type = static_cast<GgufTokenType>(metadata.token_types[i]);
    if (!IsAdded(type) || metadata.tokens[i].empty()) continue;
    spec.added_tokens.push_back({.id = TokenId{static_cast<int32_t>(i)},
                                 .text = metadata.tokens[i],
                                 .special = type != GgufTokenType::kUserDefined});
  }
}

absl::Status AddMerges(const std::vector<std::string>& merges, TokenizerSpec& spec) {
  for (const std::string& merge : merges) {
    const size_t space = merge.find(' ', 1);  // a token may be a space itself
    if (space == std::string::npos) {
      return absl::InvalidArgumentError(fmt::format(
          "tokenizer.ggml.merges[{}] is '{}', expected two tokens with a space between", spec.merges.size(), merge));
    }
    spec.merges.push_back({merge.substr(0, space), merge.substr(space + 1)});
  }
  return absl::OkStatus();
}

void AddEnds(const GgufTokenizerMetadata& metadata, bool add_bos, TokenizerSpec& spec) {
  spec.bos = ToToken(metadata.bos_token_id);
  spec.eos = ToToken(metadata.eos_token_id);
  if (spec.bos.has_value() && metadata.add_bos_token.value_or(add_bos)) spec.prefix_tokens = {*spec.bos};
  if (spec.eos.has_value() && metadata.add_eos_token.value_or(false)) spec.suffix_tokens = {*spec.eos};
}

absl::StatusOr<TokenizerSpec> ByteLevelSpec(const GgufTokenizerMetadata& metadata) {
  std::optional<WordRules> rules = WordRulesOf(metadata.pre);
  if (!rules.has_value()) {
    return absl::UnimplementedError(fmt::format("tokenizer.ggml.pre is '{}', which is not supported", metadata.pre));
  }
  TokenizerSpec spec{.kind = TokenizerKind::kByteLevelBpe};
  AddTokens(metadata, spec);
  if (absl::Status status = AddMerges(metadata.merges, spec); !status.ok()) return status;
  AddEnds(metadata, rules->add_bos, spec);
  if (rules->nfc) spec.normalizers.push_back({.kind = NormalizerStep::Kind::kNfc});
  if (metadata.add_space_prefix.value_or(false)) {
    spec.pre_tokenizers.push_back(
        {.kind = PreTokenizerStep::Kind::kPrefix, .content = " ", .scheme = PrefixScheme::kAlways});
  }
  spec.pre_tokenizers.insert(spec.pre_tokenizers.end(), rules->steps.begin(), rules->steps.end());
  spec.ignore_merges = rules->ignore_merges;
  return spec;
}

absl::StatusOr<TokenizerSpec> SentencePieceSpec(const GgufTokenizerMetadata& metadata) {
  if (metadata.scores.empty())
    return absl::InvalidArgumentError("tokenizer.ggml.scores is missing, which 'llama' needs");
  TokenizerSpec spec{.kind = TokenizerKind::kSentencePiece};
  AddTokens(metadata, spec);
  spec.scores = metadata.scores;
  spec.byte_fallback = true;
  spec.fuse_unknown = true;
  spec.unknown = ToToken(metadata.unknown_token_id);
  AddEnds(metadata, /*add_bos=*/true, spec);
  const bool prefix = metadata.add_space_prefix.value_or(true);
  if (prefix) {
    spec.normalizers.push_back({.kind = NormalizerStep::Kind::kPrepend, .content = std::string(kMetaspace)});
  }
  spec.normalizers.push_back({NormalizerStep::Kind::kReplace, {.text = " "}, std::string(kMetaspace)});
  spec.decoder = {
      .replacements = {{std::string(kMetaspace), " "}}, .byte_fallback = true, .strip_leading_spaces = prefix ? 1 : 0};
  return spec;
}

}  // namespace

absl::StatusOr<TokenizerSpec> TokenizerSpecFromGguf(const GgufTokenizerMetadata& metadata) {
  if (absl::Status status = Check(metadata); !status.ok()) return status;
  if (metadata.model == "gpt2") return ByteLevelSpec(metadata);
  if (metadata.model == "llama") return SentencePieceSpec(metadata);
  return absl::UnimplementedError(fmt::format("tokenizer.ggml.model is '{}', expected gpt2 or llama", metadata.model));
}

}  // namespace headstart
