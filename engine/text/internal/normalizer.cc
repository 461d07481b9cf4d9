#include "engine/text/internal/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "engine/text/internal/regex.h"
#include "engine/text/utf8.h"
#include "fmt/format.h"

namespace headstart {
namespace {

using Step = std::function<MarkedText(MarkedText)>;

const icu::Normalizer2* UnicodeForm(NormalizerStep::Kind kind, UErrorCode& error) {
  switch (kind) {
    case NormalizerStep::Kind::kNfd:
      return icu::Normalizer2::getNFDInstance(error);
    case NormalizerStep::Kind::kNfkc:
      return icu::Normalizer2::getNFKCInstance(error);
    case NormalizerStep::Kind::kNfkd:
      return icu::Normalizer2::getNFKDInstance(error);
    default:
      return icu::Normalizer2::getNFCInstance(error);
  }
}

icu::StringPiece ToPiece(std::string_view text) { return {text.data(), static_cast<int32_t>(text.size())}; }

// Replays ICU's list of changes, so that marks move with the text.
MarkedText Replay(const icu::Edits& edits, std::string_view normalized, MarkedText text) {
  TextEditor editor(std::move(text));
  UErrorCode error = U_ZERO_ERROR;
  for (icu::Edits::Iterator it = edits.getFineIterator(); it.next(error);) {
    if (it.hasChange()) {
      editor.Replace(it.oldLength(), normalized.substr(it.destinationIndex(), it.newLength()));
    } else {
      editor.Keep(it.oldLength());
    }
  }
  return std::move(editor).Finish();
}

MarkedText ToForm(const icu::Normalizer2& form, MarkedText text) {
  UErrorCode error = U_ZERO_ERROR;
  if (form.isNormalizedUTF8(ToPiece(text.text), error)) return text;
  std::string normalized;
  icu::StringByteSink<std::string> sink(&normalized);
  icu::Edits edits;
  form.normalizeUTF8(0, ToPiece(text.text), sink, &edits, error);
  if (U_FAILURE(error)) return text;  // out of memory, or more changes than ICU can list
  if (text.marks.empty()) return {std::move(normalized), {}};
  return Replay(edits, normalized, std::move(text));
}

absl::StatusOr<Step> UnicodeFormStep(const NormalizerStep& step) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* form = UnicodeForm(step.kind, error);
  if (U_FAILURE(error)) {
    return absl::FailedPreconditionError(fmt::format("ICU has no normalization data: {}", u_errorName(error)));
  }
  return [form](MarkedText text) { return ToForm(*form, std::move(text)); };
}

MarkedText Prepend(std::string_view content, MarkedText text) {
  if (text.text.empty()) return text;
  TextEditor editor(std::move(text));
  editor.Replace(0, content);
  return std::move(editor).Finish();
}

MarkedText ReplaceAll(const Regex& regex, std::string_view content, MarkedText text) {
  const std::string original = text.text;
  TextEditor editor(std::move(text));
  Regex::Matcher matcher(regex, original);
  size_t done = 0;
  while (const std::optional<TextRange> match = matcher.Next()) {
    editor.Keep(match->begin - done);
    editor.Replace(match->end - match->begin, content);
    done = match->end;
  }
  return std::move(editor).Finish();
}

absl::StatusOr<Step> ReplaceStep(const NormalizerStep& step) {
  absl::StatusOr<Regex> regex = Regex::Compile(step.pattern);
  if (!regex.ok()) return regex.status();
  return [regex = std::make_shared<const Regex>(*std::move(regex)), content = step.content](MarkedText text) {
    return ReplaceAll(*regex, content, std::move(text));
  };
}

bool IsSpace(char32_t code_point) { return u_isUWhiteSpace(static_cast<UChar32>(code_point)); }

MarkedText StripLeft(MarkedText text) {
  TextEditor editor(std::move(text));
  while (!editor.rest().empty() && IsSpace(FirstCodePoint(editor.rest()))) {
    editor.Replace(CodePointSize(editor.rest()[0]), "");
  }
  return std::move(editor).Finish();
}

MarkedText StripRight(MarkedText text) {
  std::string_view kept = text.text;
  while (!kept.empty() && IsSpace(LastCodePoint(kept))) {
    while (IsContinuationByte(kept.back())) kept.remove_suffix(1);
    kept.remove_suffix(1);
  }
  const size_t kept_size = kept.size();
  TextEditor editor(std::move(text));
  editor.Keep(kept_size);
  editor.Replace(editor.rest().size(), "");
  return std::move(editor).Finish();
}

absl::StatusOr<Step> Compile(const NormalizerStep& step) {
  switch (step.kind) {
    case NormalizerStep::Kind::kPrepend:
      return [content = step.content](MarkedText text) { return Prepend(content, std::move(text)); };
    case NormalizerStep::Kind::kReplace:
      return ReplaceStep(step);
    case NormalizerStep::Kind::kStripLeft:
      return StripLeft;
    case NormalizerStep::Kind::kStripRight:
      return StripRight;
    default:
      return UnicodeFormStep(step);
  }
}

}  // namespace

absl::StatusOr<Normalizer> Normalizer::Create(const std::vector<NormalizerStep>& steps) {
  Normalizer normalizer;
  for (const NormalizerStep& step : steps) {
    absl::StatusOr<Step> compiled = Compile(step);
    if (!compiled.ok()) return compiled.status();
    normalizer.steps_.push_back(*std::move(compiled));
  }
  return normalizer;
}

MarkedText Normalizer::Apply(MarkedText text) const {
  for (const Step& step : steps_) text = step(std::move(text));
  return text;
}

}  // namespace headstart
