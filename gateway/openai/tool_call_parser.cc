#include "gateway/openai/tool_call_parser.h"

#include <utility>

#include "nlohmann/json.hpp"

namespace headstart {
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::string> ArgumentsOf(const Json& call) {
  auto found = call.find("arguments");
  if (found == call.end()) found = call.find("parameters");
  if (found == call.end()) return std::nullopt;
  if (found->is_object()) return found->dump();
  // Some models write the object as text.
  if (!found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  if (!CheckJsonSize(text).ok() || !Json::parse(text, nullptr, /*allow_exceptions=*/false).is_object()) {
    return std::nullopt;
  }
  return text;
}

std::optional<ParsedToolCall> CallOf(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto name = value.find("name");
  auto arguments = ArgumentsOf(value);
  if (name == value.end() || !name->is_string() || !arguments) return std::nullopt;
  return ParsedToolCall{name->get<std::string>(), *std::move(arguments)};
}

}  // namespace

ToolCallParser::Grammar ToolCallParser::GrammarOf(ToolCallFormat format) {
  switch (format) {
    case ToolCallFormat::kHermes:
      return {.begin = "<tool_call>", .end = "</tool_call>"};
    case ToolCallFormat::kLlama3:
      return {.begin = "<|python_tag|>", .end = "", .unmarked = '{', .repeats = true};
    case ToolCallFormat::kMistral:
      return {.begin = "[TOOL_CALLS]", .end = "", .unmarked = '['};
    case ToolCallFormat::kNone:
      break;
  }
  return {};
}

ToolCallParser::ToolCallParser(ToolCallFormat format, std::set<std::string, std::less<>> offered)
    : grammar_(GrammarOf(format)), offered_(std::move(offered)) {}

std::vector<AnswerPiece> ToolCallParser::Push(std::string_view delta) {
  if (grammar_.begin.empty()) {
    AddText(delta);
  } else {
    for (const char next : delta) Step(next);
  }
  return std::exchange(pieces_, {});
}

std::vector<AnswerPiece> ToolCallParser::Finish() {
  ReleaseMarker();
  const bool is_space_after_call = state_ == State::kSpace && after_call_;
  if (!is_space_after_call) AddText(held_);
  held_.clear();
  state_ = State::kText;
  return std::exchange(pieces_, {});
}

void ToolCallParser::Step(char next) {
  if (state_ == State::kInCall || state_ == State::kBeforeCall) return StepInCall(next);
  StepOutside(next);
}

void ToolCallParser::StepOutside(char next) {
  if (ContinuesMarker(next)) {
    marker_ += next;
    return EndMarker();
  }
  if (marker_.empty()) return Plain(next);
  ReleaseMarker();
  Step(next);  // may begin a marker itself
}

bool ToolCallParser::ContinuesMarker(char next) const {
  const auto continues = [&](std::string_view marker) {
    return marker.size() > marker_.size() && marker.starts_with(marker_) && marker[marker_.size()] == next;
  };
  return continues(grammar_.begin) || (after_call_ && state_ == State::kSpace && continues(grammar_.end));
}

// If it is whole.
void ToolCallParser::EndMarker() {
  if (marker_ == grammar_.begin) {
    held_ += std::exchange(marker_, {});
    marked_ = true;
    state_ = State::kBeforeCall;
  } else if (marker_ == grammar_.end) {
    marker_.clear();
  }
}

// It was none: its first character may still begin a call without a marker, of which the others are part then.
void ToolCallParser::ReleaseMarker() {
  for (const char c : std::exchange(marker_, {})) {
    if (state_ == State::kInCall) {
      StepInCall(c);
    } else {
      Plain(c);
    }
  }
}

bool ToolCallParser::IsSpace(char c) const {
  const bool separates = grammar_.repeats && after_call_ && c == ';';
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || separates;
}

// A character outside of calls that is in no marker.
void ToolCallParser::Plain(char next) {
  if (state_ == State::kText) return AddText({&next, 1});
  held_ += next;
  if (IsSpace(next)) return;
  const bool may_begin = grammar_.unmarked == next && (!after_call_ || grammar_.repeats);
  if (!may_begin) return GiveUpCall();
  marked_ = false;
  state_ = State::kInCall;
  extent_ = JsonExtent();
  json_ = next;
  extent_.Push(next);
}

void ToolCallParser::StepInCall(char next) {
  if (state_ == State::kBeforeCall) {
    if (next != '{' && next != '[') {
      if (!IsSpace(next)) {
        GiveUpCall();
        return Step(next);
      }
      held_ += next;
      return;
    }
    state_ = State::kInCall;
    extent_ = JsonExtent();
    json_.clear();
  }
  held_ += next;
  json_ += next;
  switch (extent_.Push(next)) {
    case JsonExtent::End::kMore:
      return;
    case JsonExtent::End::kComplete:
      return EndCall();
    case JsonExtent::End::kBad:
      return GiveUpCall();
  }
}

void ToolCallParser::EndCall() {
  auto calls = ParseCalls();
  if (!calls) return GiveUpCall();
  for (ParsedToolCall& call : *calls) pieces_.push_back({.text = "", .call = std::move(call)});
  held_.clear();
  after_call_ = true;
  state_ = State::kSpace;
}

void ToolCallParser::GiveUpCall() {
  AddText(held_);
  held_.clear();
  state_ = State::kText;
}

void ToolCallParser::AddText(std::string_view text) {
  if (text.empty()) return;
  if (!pieces_.empty() && !pieces_.back().call) {
    pieces_.back().text += text;
  } else {
    pieces_.push_back({.text = std::string(text)});
  }
}

std::optional<std::vector<ParsedToolCall>> ToolCallParser::ParseCalls() const {
  const Json value = Json::parse(json_, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  const Json list = value.is_array() ? value : Json::array({value});
  std::vector<ParsedToolCall> calls;
  for (const Json& item : list) {
    auto call = CallOf(item);
    if (!call || (!marked_ && !offered_.contains(call->name))) return std::nullopt;
    calls.push_back(*std::move(call));
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

}  // namespace headstart
