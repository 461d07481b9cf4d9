// Statements: what stands between {% and %}, and the data around them.

#include <array>

#include "engine/text/template/loop.h"
#include "engine/text/template/parser.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::string JoinNames(std::initializer_list<std::string_view> names) {
  std::string out;
  for (std::string_view name : names) out += fmt::format("{}'{}'", out.empty() ? "" : " or ", name);
  return out;
}

}  // namespace

Parser::ParseFunction Parser::FindStatement(std::string_view tag) {
  using Entry = std::pair<std::string_view, ParseFunction>;
  static constexpr std::array<Entry, 11> kStatements = {{{"set", &Parser::ParseSet},
                                                         {"for", &Parser::ParseFor},
                                                         {"if", &Parser::ParseIf},
                                                         {"macro", &Parser::ParseMacro},
                                                         {"call", &Parser::ParseCallBlock},
                                                         {"filter", &Parser::ParseFilterBlock},
                                                         {"with", &Parser::ParseWith},
                                                         {"block", &Parser::ParseNamedBlock},
                                                         {"generation", &Parser::ParseGeneration},
                                                         {"break", &Parser::ParseBreak},
                                                         {"continue", &Parser::ParseContinue}}};
  for (const auto& [name, function] : kStatements) {
    if (name == tag) return function;
  }
  return nullptr;
}

// Up to one of the tags `ends`, which is left to the caller; with none, up to the end of the template.
Block Parser::ParseBlock(std::initializer_list<std::string_view> ends) {
  const Level level(*this);
  Block block;
  while (!At(TokenKind::kEnd)) {
    const Token token = Take();
    if (token.kind == TokenKind::kData) {
      block.Add(std::make_unique<DataStatement>(token.position, token.text));
    } else if (token.kind == TokenKind::kVariableBegin) {
      block.Add(std::make_unique<OutputStatement>(token.position, ParseTuple(Conditionals::kAllowed, false)));
      if (!At(TokenKind::kVariableEnd)) Unexpected("end of print statement");
      Take();
    } else if (AtAnyName(ends)) {
      return block;
    } else {
      ParseTag(block);
    }
  }
  if (ends.size() > 0) Unexpected(JoinNames(ends));
  return block;
}

void Parser::ParseTag(Block& block) {
  const Position position = current().position;
  const std::string tag = ExpectAnyName("a tag's name");
  const ParseFunction parse = FindStatement(tag);
  if (parse == nullptr) Fail(position, fmt::format("Encountered unknown tag '{}'.", tag));
  block.Add((this->*parse)(position));
  ExpectBlockEnd();
}

// The end of the opening tag, and then a block.
Block Parser::ParseBody(std::initializer_list<std::string_view> ends) {
  SkipOperator(":");
  ExpectBlockEnd();
  return ParseBlock(ends);
}

Target Parser::ParseSingleTarget(bool with_namespace) {
  const Level level(*this);
  if (SkipOperator("(")) {
    Target target = ParseTarget(false);
    ExpectOperator(")");
    return target;
  }
  const Position position = current().position;
  Target target;
  target.name = ExpectAnyName("a name to assign to");
  for (std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (target.name == constant) Fail(position, fmt::format("can't assign to '{}'", constant));
  }
  if (with_namespace && SkipOperator(".")) target.attribute = ExpectAnyName("a name to assign to");
  return target;
}

Target Parser::ParseTarget(bool with_namespace) {
  Target first = ParseSingleTarget(with_namespace);
  if (!AtOperator(",")) return first;
  Target target;
  target.parts.push_back(std::move(first));
  while (SkipOperator(",")) {
    if (!At(TokenKind::kName) && !AtOperator("(")) break;
    if (AtName("in")) break;
    target.parts.push_back(ParseSingleTarget(with_namespace));
  }
  return target;
}

Parser::StatementPtr Parser::ParseSet(Position position) {
  Target target = ParseTarget(true);
  if (SkipOperator("="))
    return std::make_unique<SetStatement>(position, std::move(target), ParseTuple(Conditionals::kAllowed, false));
  // The filters come before the body that they apply to.
  const size_t filters = at_;
  ParseFilters(nullptr);
  Block body = ParseBody({"endset"});
  const size_t end = std::exchange(at_, filters);
  ExpressionPtr value = ParseFilters(std::make_unique<CaptureExpression>(position, std::move(body)));
  at_ = end;
  ExpectName("endset");
  return std::make_unique<SetStatement>(position, std::move(target), std::move(value));
}

Parser::StatementPtr Parser::ParseFilterBlock(Position position) {
  const size_t filters = at_;
  ParseFilters(ParseFilter(nullptr));
  Block body = ParseBody({"endfilter"});
  const size_t end = std::exchange(at_, filters);
  ExpressionPtr value = ParseFilters(ParseFilter(std::make_unique<CaptureExpression>(position, std::move(body))));
  at_ = end;
  ExpectName("endfilter");
  return std::make_unique<OutputStatement>(position, std::move(value));
}

Parser::StatementPtr Parser::ParseFor(Position position) {
  ForStatement::Parts parts;
  parts.target = ParseTarget(false);
  ExpectName("in");
  parts.iterable = ParseTuple(Conditionals::kNot, false);
  if (SkipName("if")) parts.condition = ParseExpression();
  parts.recursive = SkipName("recursive");
  ++loops_;
  parts.body = ParseBody({"endfor", "else"});
  --loops_;
  if (SkipName("else")) parts.otherwise = ParseBody({"endfor"});
  ExpectName("endfor");
  return std::make_unique<ForStatement>(position, std::move(parts));
}

Parser::StatementPtr Parser::ParseIf(Position position) {
  std::vector<IfStatement::Branch> branches;
  ++conditionals_;
  do {
    ExpressionPtr condition = ParseTuple(Conditionals::kNot, false);
    branches.push_back({std::move(condition), ParseBody({"elif", "else", "endif"})});
  } while (SkipName("elif"));
  if (SkipName("else")) branches.push_back({nullptr, ParseBody({"endif"})});
  --conditionals_;
  ExpectName("endif");
  return std::make_unique<IfStatement>(position, std::move(branches));
}

void Parser::ParseParameters(MacroDefinition& macro) {
  ExpectOperator("(");
  while (!AtOperator(")")) {
    if (!macro.parameters.empty()) ExpectOperator(",");
    const Position position = current().position;
    MacroDefinition::Parameter parameter{ExpectAnyName("the name of a parameter"), nullptr};
    if (SkipOperator("=")) {
      parameter.default_value = ParseExpression();
    } else if (!macro.parameters.empty() && macro.parameters.back().default_value != nullptr) {
      Fail(position, "non-default argument follows default argument");
    }
    macro.parameters.push_back(std::move(parameter));
  }
  ExpectOperator(")");
}

void Parser::ParseMacroBody(MacroDefinition& macro, std::string_view end) {
  macros_.emplace_back();
  const int loops = std::exchange(loops_, 0);
  macro.body = ParseBody({end});
  loops_ = loops;
  macro.takes_varargs = macros_.back().varargs;
  macro.takes_kwargs = macros_.back().kwargs;
  macro.takes_caller = macros_.back().caller;
  macros_.pop_back();
  ExpectName(end);
}

Parser::StatementPtr Parser::ParseMacro(Position position) {
  MacroDefinition macro;
  macro.name = ExpectAnyName("the name of a macro");
  ParseParameters(macro);
  ParseMacroBody(macro, "endmacro");
  return std::make_unique<MacroStatement>(position, std::move(macro));
}

Parser::StatementPtr Parser::ParseCallBlock(Position position) {
  MacroDefinition caller;
  caller.name = "caller";
  if (AtOperator("(")) ParseParameters(caller);
  // The call is the last step of an expression such as `ns.macro(x)`.
  ExpressionPtr call = ParseUnary(true);
  if (dynamic_cast<const CallExpression*>(call.get()) == nullptr) Fail(position, "expected call");
  std::unique_ptr<const CallExpression> checked(static_cast<const CallExpression*>(call.release()));
  ParseMacroBody(caller, "endcall");
  return std::make_unique<CallBlockStatement>(position, std::move(checked), std::move(caller));
}

Parser::StatementPtr Parser::ParseWith(Position position) {
  WithStatement::Assignments assignments;
  while (!At(TokenKind::kBlockEnd)) {
    if (!assignments.empty()) ExpectOperator(",");
    Target target = ParseTarget(false);
    ExpectOperator("=");
    assignments.emplace_back(std::move(target), ParseExpression());
  }
  Block body = ParseBody({"endwith"});
  ExpectName("endwith");
  return std::make_unique<WithStatement>(position, std::move(assignments), std::move(body));
}

Parser::StatementPtr Parser::ParseNamedBlock(Position position) {
  const std::string name = ExpectAnyName("the name of a block");
  SkipName("scoped");
  SkipName("required");
  Block body = ParseBody({"endblock"});
  ExpectName("endblock");
  SkipName(name);
  return std::make_unique<WithStatement>(position, WithStatement::Assignments(), std::move(body));
}

Parser::StatementPtr Parser::ParseGeneration(Position position) {
  Block body = ParseBody({"endgeneration"});
  ExpectName("endgeneration");
  return std::make_unique<WithStatement>(position, WithStatement::Assignments(), std::move(body));
}

Parser::StatementPtr Parser::ParseFlow(Position position, Flow flow) {
  if (loops_ == 0) Fail(position, fmt::format("'{}' outside loop", flow == Flow::kBreak ? "break" : "continue"));
  return std::make_unique<FlowStatement>(position, flow);
}

Parser::StatementPtr Parser::ParseBreak(Position position) { return ParseFlow(position, Flow::kBreak); }
Parser::StatementPtr Parser::ParseContinue(Position position) { return ParseFlow(position, Flow::kContinue); }

}  // namespace headstart::jinja
