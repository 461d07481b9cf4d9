// The lexer: template text to tokens, with whitespace already trimmed as trim_blocks, lstrip_blocks and the signs `-`
// and `+` ask for.
//
// Errors: throws SyntaxError.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_LEXER_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_LEXER_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/template/value.h"

namespace headstart::jinja {

struct Position {
  int line = 1;
  int column = 1;  // in bytes
};

// A template that does not parse.
struct SyntaxError {
  Position position;
  std::string message;
};

enum class TokenKind {
  kData,
  kBlockBegin,
  kBlockEnd,
  kVariableBegin,
  kVariableEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Position position;
  std::string text;  // data, name, operator, or the characters of a string after its escapes
  Value number;      // of kInteger and kFloat
};

// The tokens of `source`, the last of which is kEnd.
std::vector<Token> Tokenize(std::string_view source);

// "\n", "é" and so on in a string literal, as Python reads them. Fails for escapes that end too early.
std::string Unescape(std::string_view literal, Position position);

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_LEXER_H_
