// The parser: tokens to the tree of a template.
//
// Errors: throws SyntaxError, also for what nests deeper than `max_depth`.

#ifndef HEADSTART_ENGINE_TEXT_TEMPLATE_PARSER_H_
#define HEADSTART_ENGINE_TEXT_TEMPLATE_PARSER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/template/expression.h"
#include "engine/text/template/lexer.h"
#include "engine/text/template/macro.h"
#include "engine/text/template/statement.h"

namespace headstart::jinja {

class Parser {
 public:
  Parser(std::string_view source, int max_depth) : tokens_(Tokenize(source)), max_depth_(max_depth) {}

  Block ParseTemplate() &&;

 private:
  // What the macro being parsed names, see MacroDefinition.
  struct MacroUse {
    bool varargs = false;
    bool kwargs = false;
    bool caller = false;
  };
  enum class Conditionals { kAllowed, kNot };
  class Level;

  // The stream of tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool At(TokenKind kind) const { return current().kind == kind; }
  bool AtOperator(std::string_view text) const { return At(TokenKind::kOperator) && current().text == text; }
  bool AtName(std::string_view text) const { return At(TokenKind::kName) && current().text == text; }
  bool AtAnyName(std::initializer_list<std::string_view> names) const;
  bool SkipOperator(std::string_view text);
  bool SkipName(std::string_view text);
  void ExpectOperator(std::string_view text);
  void ExpectName(std::string_view text);
  std::string ExpectAnyName(std::string_view what);
  void ExpectBlockEnd();
  [[noreturn]] void Unexpected(std::string_view expected) const;
  [[noreturn]] void Fail(Position position, std::string message) const;
  void CheckDepth(int more) const;

  // parser_expressions.cc
  ExpressionPtr ParseExpression(Conditionals conditionals = Conditionals::kAllowed);
  ExpressionPtr ParseConditional();
  ExpressionPtr ParseOr();
  ExpressionPtr ParseAnd();
  ExpressionPtr ParseNot();
  ExpressionPtr ParseComparison();
  std::optional<CompareOp> TakeCompareOp();
  ExpressionPtr ParseSum();
  ExpressionPtr ParseConcat();
  ExpressionPtr ParseProduct();
  ExpressionPtr ParsePower();
  ExpressionPtr ParseUnary(bool with_filters);
  ExpressionPtr ParsePrimary();
  ExpressionPtr ParseNameOrConstant();
  ExpressionPtr ParseStrings();
  ExpressionPtr ParseList();
  ExpressionPtr ParseDict();
  ExpressionPtr ParseTuple(Conditionals conditionals, bool parenthesized);
  bool AtTupleEnd() const;
  ExpressionPtr ParsePostfix(ExpressionPtr object);
  ExpressionPtr ParseFiltersAndTests(ExpressionPtr input);
  ExpressionPtr ParseDot(ExpressionPtr object);
  ExpressionPtr ParseSubscript(ExpressionPtr object);
  ExpressionPtr ParseSlice(ExpressionPtr object, ExpressionPtr start);
  ExpressionPtr ParseFilter(ExpressionPtr input);
  ExpressionPtr ParseFilters(ExpressionPtr input);
  ExpressionPtr ParseTest(ExpressionPtr input);
  std::unique_ptr<const CallExpression> ParseCall(ExpressionPtr callee);
  CallArguments ParseArguments();
  void ParseArgument(CallArguments& arguments);
  std::string ParseDottedName(std::string_view what);
  void CheckKnown(Position position, bool known, std::string_view kind, std::string_view name) const;

  // parser_statements.cc
  using StatementPtr = std::unique_ptr<const Statement>;
  using ParseFunction = StatementPtr (Parser::*)(Position);
  static ParseFunction FindStatement(std::string_view tag);
  Block ParseBlock(std::initializer_list<std::string_view> ends);
  void ParseTag(Block& block);
  Block ParseBody(std::initializer_list<std::string_view> ends);
  void ParseEnd(std::string_view name);
  StatementPtr ParseSet(Position position);
  StatementPtr ParseFor(Position position);
  StatementPtr ParseIf(Position position);
  StatementPtr ParseMacro(Position position);
  StatementPtr ParseCallBlock(Position position);
  StatementPtr ParseFilterBlock(Position position);
  StatementPtr ParseWith(Position position);
  StatementPtr ParseNamedBlock(Position position);
  StatementPtr ParseGeneration(Position position);
  StatementPtr ParseBreak(Position position);
  StatementPtr ParseContinue(Position position);
  StatementPtr ParseFlow(Position position, Flow flow);
  Target ParseTarget(bool with_namespace);
  Target ParseSingleTarget(bool with_namespace);
  void ParseParameters(MacroDefinition& macro);
  void ParseMacroBody(MacroDefinition& macro, std::string_view end);

  const std::vector<Token> tokens_;
  const int max_depth_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;         // around the current statement, inside the current macro
  int conditionals_ = 0;  // `if` blocks around it: what they name may be unknown as long as it is not reached
  std::vector<MacroUse> macros_;
};

// One level of nesting until the end of the block.
class Parser::Level {
 public:
  explicit Level(Parser& parser) : parser_(parser) {
    parser.CheckDepth(1);
    ++parser.depth_;
  }
  ~Level() { --parser_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Parser& parser_;
};

}  // namespace headstart::jinja

#endif  // HEADSTART_ENGINE_TEXT_TEMPLATE_PARSER_H_
