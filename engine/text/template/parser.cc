#include "engine/text/template/parser.h"

#include <algorithm>

#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "end of template";
    case TokenKind::kBlockEnd:
      return "end of statement block";
    case TokenKind::kVariableEnd:
      return "end of print statement";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kData:
      return "template data";
    default:
      return fmt::format("'{}'", token.text);
  }
}

}  // namespace

void Parser::Fail(Position position, std::string message) const { throw SyntaxError{position, std::move(message)}; }

void Parser::Unexpected(std::string_view expected) const {
  Fail(current().position, fmt::format("expected {}, got {}", expected, Describe(current())));
}

void Parser::CheckDepth(int more) const {
  if (depth_ + more > max_depth_) {
    Fail(current().position, fmt::format("the template nests deeper than the limit of {} (max_depth)", max_depth_));
  }
}

bool Parser::AtAnyName(std::initializer_list<std::string_view> names) const {
  return At(TokenKind::kName) && std::find(names.begin(), names.end(), current().text) != names.end();
}

bool Parser::SkipOperator(std::string_view text) {
  if (!AtOperator(text)) return false;
  Take();
  return true;
}

bool Parser::SkipName(std::string_view text) {
  if (!AtName(text)) return false;
  Take();
  return true;
}

void Parser::ExpectOperator(std::string_view text) {
  if (!SkipOperator(text)) Unexpected(fmt::format("'{}'", text));
}

void Parser::ExpectName(std::string_view text) {
  if (!SkipName(text)) Unexpected(fmt::format("'{}'", text));
}

std::string Parser::ExpectAnyName(std::string_view what) {
  if (!At(TokenKind::kName)) Unexpected(what);
  return Take().text;
}

void Parser::ExpectBlockEnd() {
  if (!At(TokenKind::kBlockEnd)) Unexpected("end of statement block");
  Take();
}

Block Parser::ParseTemplate() && {
  Block block = ParseBlock({});
  return block;
}

}  // namespace headstart::jinja
