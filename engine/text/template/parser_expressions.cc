// Expressions, from what binds least to what binds most. Each function parses one level of precedence.

#include <algorithm>
#include <array>

#include "engine/text/template/parser.h"
#include "fmt/format.h"

namespace headstart::jinja {
namespace {

std::optional<ArithmeticOp> ProductOp(std::string_view text) {
  if (text == "*") return ArithmeticOp::kMultiply;
  if (text == "/") return ArithmeticOp::kDivide;
  if (text == "//") return ArithmeticOp::kFloorDivide;
  return text == "%" ? std::optional(ArithmeticOp::kModulo) : std::nullopt;
}

// The constants that have a name, or null.
const Value* FindConstant(std::string_view name) {
  static const Value kTrue(true), kFalse(false), kNone;
  if (name == "true" || name == "True") return &kTrue;
  if (name == "false" || name == "False") return &kFalse;
  return name == "none" || name == "None" ? &kNone : nullptr;
}

}  // namespace

ExpressionPtr Parser::ParseExpression(Conditionals conditionals) {
  const Level level(*this);
  return conditionals == Conditionals::kAllowed ? ParseConditional() : ParseOr();
}

ExpressionPtr Parser::ParseConditional() {
  const Position position = current().position;
  ExpressionPtr value = ParseOr();
  for (int chain = 1; AtName("if"); ++chain) {
    CheckDepth(chain);
    Take();
    ExpressionPtr condition = ParseOr();
    ExpressionPtr otherwise;
    if (SkipName("else")) otherwise = ParseExpression();
    value =
        std::make_unique<ConditionalExpression>(position, std::move(condition), std::move(value), std::move(otherwise));
  }
  return value;
}

ExpressionPtr Parser::ParseOr() {
  const Position position = current().position;
  ExpressionList operands;
  do operands.push_back(ParseAnd());
  while (SkipName("or"));
  if (operands.size() == 1) return std::move(operands[0]);
  return std::make_unique<LogicExpression>(position, LogicExpression::Op::kOr, std::move(operands));
}

ExpressionPtr Parser::ParseAnd() {
  const Position position = current().position;
  ExpressionList operands;
  do operands.push_back(ParseNot());
  while (SkipName("and"));
  if (operands.size() == 1) return std::move(operands[0]);
  return std::make_unique<LogicExpression>(position, LogicExpression::Op::kAnd, std::move(operands));
}

ExpressionPtr Parser::ParseNot() {
  const Position position = current().position;
  if (!SkipName("not")) return ParseComparison();
  const Level level(*this);
  return std::make_unique<UnaryExpression>(position, UnaryExpression::Op::kNot, ParseNot());
}

std::optional<CompareOp> Parser::TakeCompareOp() {
  using Entry = std::pair<std::string_view, CompareOp>;
  constexpr std::array<Entry, 6> kOps = {{{"==", CompareOp::kEqual},
                                          {"!=", CompareOp::kNotEqual},
                                          {"<", CompareOp::kLess},
                                          {"<=", CompareOp::kLessEqual},
                                          {">", CompareOp::kGreater},
                                          {">=", CompareOp::kGreaterEqual}}};
  for (const auto& [text, op] : kOps) {
    if (SkipOperator(text)) return op;
  }
  if (SkipName("in")) return CompareOp::kIn;
  const bool not_in = AtName("not") && next().kind == TokenKind::kName && next().text == "in";
  if (!not_in) return std::nullopt;
  Take(), Take();
  return CompareOp::kNotIn;
}

ExpressionPtr Parser::ParseComparison() {
  const Position position = current().position;
  ExpressionPtr first = ParseSum();
  CompareExpression::Rest rest;
  while (const auto op = TakeCompareOp()) rest.emplace_back(*op, ParseSum());
  if (rest.empty()) return first;
  return std::make_unique<CompareExpression>(position, std::move(first), std::move(rest));
}

ExpressionPtr Parser::ParseSum() {
  const Position position = current().position;
  ExpressionPtr first = ParseConcat();
  ArithmeticExpression::Rest rest;
  while (AtOperator("+") || AtOperator("-")) {
    const ArithmeticOp op = Take().text == "+" ? ArithmeticOp::kAdd : ArithmeticOp::kSubtract;
    rest.emplace_back(op, ParseConcat());
  }
  if (rest.empty()) return first;
  return std::make_unique<ArithmeticExpression>(position, std::move(first), std::move(rest));
}

ExpressionPtr Parser::ParseConcat() {
  const Position position = current().position;
  ExpressionList parts;
  do parts.push_back(ParseProduct());
  while (SkipOperator("~"));
  if (parts.size() == 1) return std::move(parts[0]);
  return std::make_unique<ConcatExpression>(position, std::move(parts));
}

ExpressionPtr Parser::ParseProduct() {
  const Position position = current().position;
  ExpressionPtr first = ParsePower();
  ArithmeticExpression::Rest rest;
  while (At(TokenKind::kOperator)) {
    const auto op = ProductOp(current().text);
    if (!op) break;
    Take();
    rest.emplace_back(*op, ParsePower());
  }
  if (rest.empty()) return first;
  return std::make_unique<ArithmeticExpression>(position, std::move(first), std::move(rest));
}

ExpressionPtr Parser::ParsePower() {
  const Position position = current().position;
  ExpressionPtr first = ParseUnary(true);
  ArithmeticExpression::Rest rest;
  while (SkipOperator("**")) rest.emplace_back(ArithmeticOp::kPower, ParseUnary(true));
  if (rest.empty()) return first;
  return std::make_unique<ArithmeticExpression>(position, std::move(first), std::move(rest));
}

ExpressionPtr Parser::ParseUnary(bool with_filters) {
  const Position position = current().position;
  ExpressionPtr value;
  if (AtOperator("-") || AtOperator("+")) {
    const Level level(*this);
    const auto op = Take().text == "-" ? UnaryExpression::Op::kNegate : UnaryExpression::Op::kPlus;
    value = std::make_unique<UnaryExpression>(position, op, ParseUnary(false));
  } else {
    value = ParsePrimary();
  }
  value = ParsePostfix(std::move(value));
  return with_filters ? ParseFiltersAndTests(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::ParseNameOrConstant() {
  const Token token = Take();
  const std::string& name = token.text;
  if (const Value* constant = FindConstant(name))
    return std::make_unique<ConstantExpression>(token.position, *constant);
  for (MacroUse& macro : macros_) {
    macro.varargs |= name == "varargs";
    macro.kwargs |= name == "kwargs";
    macro.caller |= name == "caller";
  }
  return std::make_unique<NameExpression>(token.position, name);
}

ExpressionPtr Parser::ParseStrings() {
  const Position position = current().position;
  std::string text;
  while (At(TokenKind::kString)) text += Take().text;
  return std::make_unique<ConstantExpression>(position, Value::MakeString(text));
}

ExpressionPtr Parser::ParsePrimary() {
  switch (current().kind) {
    case TokenKind::kName:
      return ParseNameOrConstant();
    case TokenKind::kString:
      return ParseStrings();
    case TokenKind::kInteger:
    case TokenKind::kFloat: {
      const Token token = Take();
      return std::make_unique<ConstantExpression>(token.position, token.number);
    }
    default:
      break;
  }
  if (AtOperator("[")) return ParseList();
  if (AtOperator("{")) return ParseDict();
  if (!SkipOperator("(")) Unexpected("an expression");
  ExpressionPtr value = ParseTuple(Conditionals::kAllowed, true);
  ExpectOperator(")");
  return value;
}

ExpressionPtr Parser::ParseList() {
  const Position position = Take().position;
  ExpressionList items;
  while (!AtOperator("]")) {
    if (!items.empty()) ExpectOperator(",");
    if (AtOperator("]")) break;
    items.push_back(ParseExpression());
  }
  ExpectOperator("]");
  return std::make_unique<SequenceExpression>(position, Sequence::Flavor::kList, std::move(items));
}

ExpressionPtr Parser::ParseDict() {
  const Position position = Take().position;
  DictExpression::Entries entries;
  while (!AtOperator("}")) {
    if (!entries.empty()) ExpectOperator(",");
    if (AtOperator("}")) break;
    ExpressionPtr key = ParseExpression();
    ExpectOperator(":");
    entries.emplace_back(std::move(key), ParseExpression());
  }
  ExpectOperator("}");
  return std::make_unique<DictExpression>(position, std::move(entries));
}

bool Parser::AtTupleEnd() const {
  return At(TokenKind::kBlockEnd) || At(TokenKind::kVariableEnd) || At(TokenKind::kEnd) || AtOperator(")") ||
         AtName("recursive");
}

ExpressionPtr Parser::ParseTuple(Conditionals conditionals, bool parenthesized) {
  const Position position = current().position;
  ExpressionList items;
  bool is_tuple = false;
  while (!AtTupleEnd()) {
    items.push_back(ParseExpression(conditionals));
    if (!SkipOperator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (!is_tuple && !parenthesized) Unexpected("an expression");
  return std::make_unique<SequenceExpression>(position, Sequence::Flavor::kTuple, std::move(items));
}

ExpressionPtr Parser::ParsePostfix(ExpressionPtr object) {
  for (int chain = 1;; ++chain) {
    CheckDepth(chain);
    if (AtOperator(".")) {
      object = ParseDot(std::move(object));
    } else if (AtOperator("[")) {
      object = ParseSubscript(std::move(object));
    } else if (AtOperator("(")) {
      object = ParseCall(std::move(object));
    } else {
      return object;
    }
  }
}

ExpressionPtr Parser::ParseFiltersAndTests(ExpressionPtr input) {
  for (int chain = 1;; ++chain) {
    CheckDepth(chain);
    if (AtOperator("|")) {
      input = ParseFilter(std::move(input));
    } else if (AtName("is")) {
      input = ParseTest(std::move(input));
    } else if (AtOperator("(")) {
      input = ParseCall(std::move(input));
    } else {
      return input;
    }
  }
}

ExpressionPtr Parser::ParseDot(ExpressionPtr object) {
  const Position position = Take().position;
  const Token name = Take();
  if (name.kind == TokenKind::kName)
    return std::make_unique<AttributeExpression>(position, std::move(object), name.text);
  if (name.kind != TokenKind::kInteger) Fail(name.position, "expected name or number");
  auto key = std::make_unique<ConstantExpression>(name.position, name.number);
  return std::make_unique<ItemExpression>(position, std::move(object), std::move(key));
}

ExpressionPtr Parser::ParseSubscript(ExpressionPtr object) {
  const Position position = Take().position;
  if (SkipOperator(":")) return ParseSlice(std::move(object), nullptr);
  ExpressionList keys;
  while (!AtOperator("]")) {
    if (!keys.empty()) ExpectOperator(",");
    keys.push_back(ParseExpression());
    if (keys.size() == 1 && SkipOperator(":")) return ParseSlice(std::move(object), std::move(keys[0]));
  }
  ExpectOperator("]");
  if (keys.size() == 1) return std::make_unique<ItemExpression>(position, std::move(object), std::move(keys[0]));
  auto key = std::make_unique<SequenceExpression>(position, Sequence::Flavor::kTuple, std::move(keys));
  return std::make_unique<ItemExpression>(position, std::move(object), std::move(key));
}

// After the first colon.
ExpressionPtr Parser::ParseSlice(ExpressionPtr object, ExpressionPtr start) {
  const Position position = current().position;
  SliceExpression::Bounds bounds;
  bounds.start = std::move(start);
  if (!AtOperator(":") && !AtOperator("]")) bounds.stop = ParseExpression();
  if (SkipOperator(":") && !AtOperator("]")) bounds.step = ParseExpression();
  ExpectOperator("]");
  return std::make_unique<SliceExpression>(position, std::move(object), std::move(bounds));
}

std::string Parser::ParseDottedName(std::string_view what) {
  std::string name = ExpectAnyName(what);
  while (SkipOperator(".")) name += "." + ExpectAnyName(what);
  return name;
}

void Parser::CheckKnown(Position position, bool known, std::string_view kind, std::string_view name) const {
  if (!known && conditionals_ == 0) Fail(position, fmt::format("No {} named '{}'.", kind, name));
}

// A filter after its `|`.
ExpressionPtr Parser::ParseFilter(ExpressionPtr input) {
  if (AtOperator("|")) Take();
  const Position position = current().position;
  std::string name = ParseDottedName("the name of a filter");
  CheckKnown(position, FindFilter(name) != nullptr, "filter", name);
  CallArguments arguments;
  if (AtOperator("(")) arguments = ParseArguments();
  return std::make_unique<FilterExpression>(position, std::move(input), std::move(name), std::move(arguments));
}

// What `set` and `filter` blocks apply: filters alone.
ExpressionPtr Parser::ParseFilters(ExpressionPtr input) {
  for (int chain = 1; AtOperator("|"); ++chain) {
    CheckDepth(chain);
    input = ParseFilter(std::move(input));
  }
  return input;
}

ExpressionPtr Parser::ParseTest(ExpressionPtr input) {
  const Position position = Take().position;
  const bool negated = SkipName("not");
  std::string name = ParseDottedName("the name of a test");
  CheckKnown(position, FindTest(name) != nullptr, "test", name);
  CallArguments arguments;
  const bool at_literal =
      At(TokenKind::kString) || At(TokenKind::kInteger) || At(TokenKind::kFloat) || AtOperator("[") || AtOperator("{");
  const bool at_value = At(TokenKind::kName) && !AtAnyName({"else", "or", "and", "if", "in", "not", "is", "recursive"});
  if (AtOperator("(")) {
    arguments = ParseArguments();
  } else if (at_literal || at_value) {
    const Level level(*this);
    arguments.positional.push_back(ParsePostfix(ParsePrimary()));
  } else if (AtName("is")) {
    Fail(current().position, "You cannot chain multiple tests with is");
  }
  ExpressionPtr test =
      std::make_unique<TestExpression>(position, std::move(input), std::move(name), std::move(arguments));
  if (!negated) return test;
  return std::make_unique<UnaryExpression>(position, UnaryExpression::Op::kNot, std::move(test));
}

std::unique_ptr<const CallExpression> Parser::ParseCall(ExpressionPtr callee) {
  const Position position = current().position;
  return std::make_unique<CallExpression>(position, std::move(callee), ParseArguments());
}

CallArguments Parser::ParseArguments() {
  ExpectOperator("(");
  CallArguments arguments;
  bool first = true;
  while (!AtOperator(")")) {
    if (!std::exchange(first, false)) ExpectOperator(",");
    if (AtOperator(")")) break;
    ParseArgument(arguments);
  }
  ExpectOperator(")");
  return arguments;
}

void Parser::ParseArgument(CallArguments& arguments) {
  const Position position = current().position;
  const bool after_star = arguments.star != nullptr || arguments.double_star != nullptr;
  if (SkipOperator("*")) {
    if (after_star) Fail(position, "invalid syntax for function call expression");
    arguments.star = ParseExpression();
  } else if (SkipOperator("**")) {
    if (arguments.double_star != nullptr) Fail(position, "invalid syntax for function call expression");
    arguments.double_star = ParseExpression();
  } else if (At(TokenKind::kName) && next().kind == TokenKind::kOperator && next().text == "=") {
    if (arguments.double_star != nullptr) Fail(position, "invalid syntax for function call expression");
    std::string name = Take().text;
    Take();
    arguments.named.emplace_back(std::move(name), ParseExpression());
  } else {
    if (after_star || !arguments.named.empty()) Fail(position, "invalid syntax for function call expression");
    arguments.positional.push_back(ParseExpression());
  }
}

}  // namespace headstart::jinja
