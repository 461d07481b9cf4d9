#include "engine/text/internal/pre_tokenizer.h"

#include <algorithm>
#include <utility>

namespace headstart {
namespace {

using Word = Words::Word;

struct Part {
  size_t begin = 0;
  size_t end = 0;
  bool matches = false;
};

// The whole text as parts that match and parts that do not.
std::vector<Part> Parts(Regex::Matcher& matcher, std::string_view text, bool invert) {
  std::vector<Part> parts;
  size_t done = 0;
  matcher.Reset(text);
  while (const std::optional<TextRange> match = matcher.Next()) {
    if (match->begin > done) parts.push_back({done, match->begin, invert});
    parts.push_back({match->begin, match->end, !invert});
    done = match->end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), invert});
  return parts;
}

std::vector<Part> WithoutMatches(std::vector<Part> parts) {
  std::erase_if(parts, [](const Part& part) { return part.matches; });
  return parts;
}

std::vector<Part> JoinAlike(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  for (const Part& part : parts) {
    if (!joined.empty() && joined.back().matches == part.matches) {
      joined.back().end = part.end;
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

// A match joins what lies before it, unless that is a match.
std::vector<Part> JoinToPrevious(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.matches && !after_match && !joined.empty()) {
      joined.back().end = part.end;
    } else {
      joined.push_back(part);
    }
    after_match = part.matches;
  }
  return joined;
}

// A match joins what lies after it, unless that is a match.
std::vector<Part> JoinToNext(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->matches && !before_match && !joined.empty()) {
      joined.back().begin = part->begin;
    } else {
      joined.push_back(*part);
    }
    before_match = part->matches;
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

std::vector<Part> Behave(SplitBehavior behavior, std::vector<Part> parts) {
  switch (behavior) {
    case SplitBehavior::kRemoved:
      return WithoutMatches(std::move(parts));
    case SplitBehavior::kMergedWithPrevious:
      return JoinToPrevious(parts);
    case SplitBehavior::kMergedWithNext:
      return JoinToNext(parts);
    case SplitBehavior::kContiguous:
      return JoinAlike(parts);
    case SplitBehavior::kIsolated:
      break;
  }
  return parts;
}

std::vector<Word> SplitWords(const std::vector<Word>& words, const Regex& regex, SplitBehavior behavior, bool invert) {
  std::vector<Word> split;
  Regex::Matcher matcher(regex, "");
  for (const Word& word : words) {
    for (const Part& part : Behave(behavior, Parts(matcher, word.text, invert))) {
      if (part.end == part.begin) continue;
      split.push_back({word.text.substr(part.begin, part.end - part.begin), word.at_start && part.begin == 0});
    }
  }
  return split;
}

bool TakesPrefix(const Word& word, std::string_view prefix, PrefixScheme scheme) {
  if (scheme == PrefixScheme::kNever || word.text.starts_with(prefix)) return false;
  return scheme == PrefixScheme::kAlways || word.at_start;
}

void AddPrefixes(Words& words, std::string_view prefix, PrefixScheme scheme) {
  for (Word& word : words.words) {
    if (!TakesPrefix(word, prefix, scheme)) continue;
    word.text = words.rewritten.emplace_back(std::string(prefix).append(word.text));
  }
}

void ReplaceSpaces(Words& words, std::string_view with) {
  for (Word& word : words.words) {
    if (word.text.find(' ') == std::string_view::npos) continue;
    std::string& replaced = words.rewritten.emplace_back();
    for (const char c : word.text) replaced.append(c == ' ' ? with : std::string_view(&c, 1));
    word.text = replaced;
  }
}

std::optional<TextPattern> PatternOf(const PreTokenizerStep& step) {
  if (step.kind == PreTokenizerStep::Kind::kSplit) return step.pattern;
  if (step.kind == PreTokenizerStep::Kind::kMetaspace && step.split) return TextPattern{.text = step.content};
  return std::nullopt;
}

}  // namespace

absl::StatusOr<PreTokenizer> PreTokenizer::Create(const std::vector<PreTokenizerStep>& steps) {
  PreTokenizer pre_tokenizer;
  for (const PreTokenizerStep& step : steps) {
    Step& added = pre_tokenizer.steps_.emplace_back(Step{step, std::nullopt});
    const std::optional<TextPattern> pattern = PatternOf(step);
    if (!pattern.has_value()) continue;
    absl::StatusOr<Regex> regex = Regex::Compile(*pattern);
    if (!regex.ok()) return regex.status();
    added.regex = *std::move(regex);
  }
  return pre_tokenizer;
}

Words PreTokenizer::Split(std::string_view text, bool at_start) const {
  Words words;
  words.words.push_back({text, at_start});
  for (const Step& step : steps_) {
    const PreTokenizerStep& spec = step.spec;
    const bool is_metaspace = spec.kind == PreTokenizerStep::Kind::kMetaspace;
    if (is_metaspace) ReplaceSpaces(words, spec.content);
    if (spec.kind != PreTokenizerStep::Kind::kSplit) AddPrefixes(words, spec.content, spec.scheme);
    if (!step.regex.has_value()) continue;
    const SplitBehavior behavior = is_metaspace ? SplitBehavior::kMergedWithNext : spec.behavior;
    words.words = SplitWords(words.words, *step.regex, behavior, spec.invert);
  }
  return words;
}

}  // namespace headstart
