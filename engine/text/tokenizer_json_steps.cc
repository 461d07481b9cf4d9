#include "engine/text/internal/tokenizer_json_steps.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/internal/well_known.h"
#include "fmt/format.h"

namespace headstart {
namespace {

// U+2581, which stands for a space where the file does not say what does.
constexpr std::string_view kMetaspace = "\xE2\x96\x81";

// Deeper than any tokenizer nests its sequences; a file made to overflow the stack ends here.
constexpr int kMaxDepth = 16;

void UnknownType(const JsonView& field, std::string_view type) {
  field["type"].Unimplemented(fmt::format("'{}' is not supported", type));
}

// Calls `read` for the field, or for each of the sequence's members in `key`.
template <typename Read>
void ForEachStep(const JsonView& field, std::string_view key, const Read& read, int depth = 0) {
  if (field.is_null()) return;
  if (depth > kMaxDepth) return field.Invalid(fmt::format("is nested deeper than {} sequences", kMaxDepth));
  if (field["type"].String() != "Sequence") return read(field);
  for (const JsonView& member : field[key].Array()) ForEachStep(member, key, read, depth + 1);
}

TextPattern ReadPattern(const JsonView& field) {
  const bool is_regex = !field["Regex"].is_null();
  return {.text = field[is_regex ? "Regex" : "String"].String(), .is_regex = is_regex};
}

SplitBehavior ReadBehavior(const JsonView& field) {
  constexpr std::pair<std::string_view, SplitBehavior> kBehaviors[] = {
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous},
  };
  const std::string name = field.String();
  for (const auto& [known, behavior] : kBehaviors) {
    if (name == known) return behavior;
  }
  field.Invalid(fmt::format("is '{}', which is no behavior of a split", name));
  return SplitBehavior::kIsolated;
}

// `prepend_scheme`, or in older files `add_prefix_space`.
PrefixScheme ReadScheme(const JsonView& field) {
  const bool add_prefix = field["add_prefix_space"].BoolOr(true);
  const std::string name = field["prepend_scheme"].StringOr(add_prefix ? "always" : "never");
  if (name == "always") return PrefixScheme::kAlways;
  if (name == "first") return PrefixScheme::kFirst;
  if (name != "never") field["prepend_scheme"].Invalid(fmt::format("is '{}', expected always, first or never", name));
  return PrefixScheme::kNever;
}

void ReadNormalizerStep(const JsonView& field, std::vector<NormalizerStep>& steps) {
  using Kind = NormalizerStep::Kind;
  constexpr std::pair<std::string_view, Kind> kForms[] = {
      {"NFC", Kind::kNfc}, {"NFD", Kind::kNfd}, {"NFKC", Kind::kNfkc}, {"NFKD", Kind::kNfkd}};
  const std::string type = field["type"].String();
  for (const auto& [name, kind] : kForms) {
    if (type == name) return steps.push_back({.kind = kind});
  }
  if (type == "Prepend") {
    steps.push_back({.kind = Kind::kPrepend, .content = field["prepend"].String()});
  } else if (type == "Replace") {
    steps.push_back({Kind::kReplace, ReadPattern(field["pattern"]), field["content"].String()});
  } else if (type == "Strip") {
    if (field["strip_left"].BoolOr(true)) steps.push_back({.kind = Kind::kStripLeft});
    if (field["strip_right"].BoolOr(true)) steps.push_back({.kind = Kind::kStripRight});
  } else {
    UnknownType(field, type);
  }
}

void ReadByteLevel(const JsonView& field, TokenizerSpec& spec) {
  spec.kind = TokenizerKind::kByteLevelBpe;
  if (field["add_prefix_space"].BoolOr(true)) {
    spec.pre_tokenizers.push_back(
        {.kind = PreTokenizerStep::Kind::kPrefix, .content = " ", .scheme = PrefixScheme::kAlways});
  }
  if (field["use_regex"].BoolOr(true)) spec.pre_tokenizers.push_back(SplitStep(kGpt2Pattern));
}

void ReadMetaspace(const JsonView& field, TokenizerSpec& spec) {
  PreTokenizerStep step{.kind = PreTokenizerStep::Kind::kMetaspace};
  step.content = field["replacement"].StringOr(kMetaspace);
  if (step.content.empty()) field["replacement"].Invalid("is empty");
  step.scheme = ReadScheme(field);
  step.split = field["split"].BoolOr(true);
  spec.pre_tokenizers.push_back(std::move(step));
}

void ReadSplit(const JsonView& field, TokenizerSpec& spec) {
  PreTokenizerStep step{.pattern = ReadPattern(field["pattern"])};
  step.behavior = ReadBehavior(field["behavior"]);
  step.invert = field["invert"].BoolOr(false);
  spec.pre_tokenizers.push_back(std::move(step));
}

void ReadPreTokenizerStep(const JsonView& field, TokenizerSpec& spec) {
  const std::string type = field["type"].String();
  if (spec.kind == TokenizerKind::kByteLevelBpe) return field.Unimplemented("follows ByteLevel, which must come last");
  if (type == "ByteLevel") {
    ReadByteLevel(field, spec);
  } else if (type == "Metaspace") {
    ReadMetaspace(field, spec);
  } else if (type == "Split") {
    ReadSplit(field, spec);
  } else if (type == "Digits") {
    const bool individual = field["individual_digits"].BoolOr(false);
    spec.pre_tokenizers.push_back(
        SplitStep("\\p{N}", individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous));
  } else if (type == "WhitespaceSplit") {
    spec.pre_tokenizers.push_back(SplitStep("\\s", SplitBehavior::kRemoved));
  } else {
    UnknownType(field, type);
  }
}

std::vector<TokenId> ReadIds(const JsonView& field) {
  std::vector<TokenId> ids;
  for (const JsonView& id : field.Array()) ids.push_back(TokenId{static_cast<int32_t>(id.Integer())});
  return ids;
}

// One processor alone may add tokens: what the reference makes of two, nobody can have meant.
void Surround(const JsonView& field, std::vector<TokenId> before, std::vector<TokenId> after, TokenizerSpec& spec) {
  if (!spec.prefix_tokens.empty() || !spec.suffix_tokens.empty()) {
    return field.Unimplemented("adds tokens after another processor has");
  }
  spec.prefix_tokens = std::move(before);
  spec.suffix_tokens = std::move(after);
}

void ReadTemplate(const JsonView& field, TokenizerSpec& spec) {
  std::vector<TokenId> sides[2];  // before the text, and after it
  int texts = 0;
  for (const JsonView& piece : field["single"].Array()) {
    if (!piece["Sequence"].is_null()) {
      ++texts;
      continue;
    }
    const std::string name = piece["SpecialToken"]["id"].String();
    const std::vector<TokenId> ids = ReadIds(field["special_tokens"][name]["ids"]);
    std::vector<TokenId>& side = sides[texts > 0 ? 1 : 0];
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (texts != 1) return field["single"].Unimplemented(fmt::format("holds the text {} times, expected once", texts));
  Surround(field, sides[0], sides[1], spec);
}

// `cls` or `sep` of BERT's and RoBERTa's processors: [text, id].
std::vector<TokenId> ReadNamedId(const JsonView& field) {
  const std::vector<JsonView> pair = field.Array();
  if (pair.size() == 2) return {TokenId{static_cast<int32_t>(pair[1].Integer())}};
  field.Invalid("is not a pair of text and id");
  return {};
}

void ReadPostProcessorStep(const JsonView& field, TokenizerSpec& spec) {
  const std::string type = field["type"].String();
  if (type == "TemplateProcessing") {
    ReadTemplate(field, spec);
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    Surround(field, ReadNamedId(field["cls"]), ReadNamedId(field["sep"]), spec);
  } else if (type != "ByteLevel") {  // which moves offsets, not ids
    UnknownType(field, type);
  }
}

// Reads a chain of decoders. What works within tokens must come before Fuse, what works on the text after it.
class DecoderReader {
 public:
  explicit DecoderReader(DecoderSpec& decoder) : decoder_(decoder) {}

  void Read(const JsonView& field) {
    const std::string type = field["type"].String();
    if (type == "Fuse") {
      fused_ = true;
    } else if (type == "Strip") {
      ReadStrip(field);
    } else if (fused_) {
      field.Unimplemented(fmt::format("'{}' comes after Fuse", type));
    } else if (type == "ByteFallback") {
      decoder_.byte_fallback = true;
    } else if (decoder_.byte_fallback) {
      field.Unimplemented(fmt::format("'{}' comes after ByteFallback", type));
    } else if (type == "Replace") {
      ReadReplace(field);
    } else if (type == "Metaspace") {
      ReadMetaspaceDecoder(field);
    } else {
      UnknownType(field, type);
    }
  }

 private:
  void ReadStrip(const JsonView& field) {
    if (!fused_) return field.Unimplemented("comes before Fuse");
    if (field["content"].String() != " " || field["stop"].Integer() != 0) {
      return field.Unimplemented("strips something other than spaces at the start");
    }
    decoder_.strip_leading_spaces = static_cast<int>(field["start"].Integer());
  }

  void ReadReplace(const JsonView& field) {
    const TextPattern pattern = ReadPattern(field["pattern"]);
    if (pattern.is_regex) return field["pattern"].Unimplemented("is a regular expression");
    if (pattern.text.empty()) return field["pattern"].Invalid("is empty");
    decoder_.replacements.push_back({pattern.text, field["content"].String()});
  }

  void ReadMetaspaceDecoder(const JsonView& field) {
    const std::string replacement = field["replacement"].StringOr(kMetaspace);
    if (replacement.empty()) return field["replacement"].Invalid("is empty");
    if (ReadScheme(field) != PrefixScheme::kNever) decoder_.drop_in_first_token = replacement;
    decoder_.replacements.push_back({replacement, " "});
  }

  DecoderSpec& decoder_;
  bool fused_ = false;
};

}  // namespace

void ReadNormalizer(const JsonView& field, TokenizerSpec& spec) {
  ForEachStep(field, "normalizers", [&](const JsonView& step) { ReadNormalizerStep(step, spec.normalizers); });
}

void ReadPreTokenizer(const JsonView& field, TokenizerSpec& spec) {
  spec.kind = TokenizerKind::kSentencePiece;
  ForEachStep(field, "pretokenizers", [&](const JsonView& step) { ReadPreTokenizerStep(step, spec); });
}

void ReadPostProcessor(const JsonView& field, TokenizerSpec& spec) {
  ForEachStep(field, "processors", [&](const JsonView& step) { ReadPostProcessorStep(step, spec); });
}

void ReadDecoder(const JsonView& field, TokenizerSpec& spec) {
  if (spec.kind == TokenizerKind::kByteLevelBpe) {
    if (field.is_null() || field["type"].String() == "ByteLevel") return;
    return field.Unimplemented("is not ByteLevel, although the pre-tokenizer is");
  }
  if (field.is_null()) return field.Unimplemented("is missing");
  DecoderReader reader(spec.decoder);
  ForEachStep(field, "decoders", [&](const JsonView& step) { reader.Read(step); });
}

}  // namespace headstart
