#include "mlperf/rules/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf {
namespace {

constexpr std::array<std::string_view, 19> kSigns = {"**", "==", "!=", "<=", ">=", "<", ">",
                                                     "+",  "-",  "*",  "/",  "%",  "(", ")",
                                                     "[",  "]",  ",",  ".",  "="};

bool begins_name(char byte) { return is_letter(byte) || byte == '_'; }

/// The length in bytes of the number at the start of `text`: 12, 0.5, 1e-08.
std::size_t number_length(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && is_digit(text[from])) ++from;
    return from;
  };
  std::size_t end = digits(0);
  if (end < text.size() && text[end] == '.') end = digits(end + 1);
  if (end >= text.size() || text[end] != 'e') return end;
  const std::size_t sign =
      end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-') ? 1 : 0;
  const std::size_t last = digits(end + 1 + sign);
  return last > end + 1 + sign ? last : end;
}

}  // namespace

Tokens::Tokens(std::string_view expression) : expression_(expression) {
  if (expression.size() > kLongestExpression)
    throw Error(ErrorKind::input, fmt::format("the expression is {} bytes long", expression.size()),
                fmt::format("shorten it to at most {} bytes", kLongestExpression));
  advance();
}

Token Tokens::take() {
  const Token taken = token_;
  advance();
  return taken;
}

bool Tokens::take(std::string_view sign_or_word) {
  const bool fits = (token_.kind == TokenKind::sign || token_.kind == TokenKind::name) &&
                    token_.text == sign_or_word;
  if (fits) advance();
  return fits;
}

void Tokens::expect(std::string_view sign_or_word) {
  if (!take(sign_or_word)) refuse(fmt::format("expected '{}'", sign_or_word));
}

void Tokens::refuse(const std::string& why) const {
  throw Error(ErrorKind::input,
              fmt::format("expression '{}', position {}: {}", printable(expression_),
                          token_.place + 1, why),
              "see the expression syntax in docs/mlperf-rules.md");
}

void Tokens::advance() {
  const std::size_t first =
      std::min(expression_.find_first_not_of(" \t", end_), expression_.size());
  const std::string_view rest = expression_.substr(first);
  token_ = {TokenKind::end, {}, first};
  end_ = first;
  if (rest.empty()) return;
  if (is_digit(rest[0])) {
    token_ = {TokenKind::number, rest.substr(0, number_length(rest)), first};
  } else if (begins_name(rest[0])) {
    std::size_t size = 1;
    while (size < rest.size() && (begins_name(rest[size]) || is_digit(rest[size]))) ++size;
    token_ = {TokenKind::name, rest.substr(0, size), first};
  } else if (rest[0] == '\'') {
    const std::size_t closing = rest.find('\'', 1);
    if (closing == std::string_view::npos) refuse("unterminated string");
    token_ = {TokenKind::text, rest.substr(1, closing - 1), first};
    end_ = first + closing + 1;
    return;
  } else {
    const auto* const sign = std::find_if(
        kSigns.begin(), kSigns.end(), [&](std::string_view one) { return rest.starts_with(one); });
    if (sign == kSigns.end()) refuse("unexpected character");
    token_ = {TokenKind::sign, *sign, first};
  }
  end_ = first + token_.text.size();
}

namespace {

template <class... Children>
Node node_of(Op op, Children... children) {
  Node node;
  node.op = op;
  (node.children.push_back(std::move(children)), ...);
  return node;
}

/// Recursive descent: one function per precedence level, lowest first.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Vocabulary& vocabulary)
      : tokens_(text), vocabulary_(vocabulary) {}

  /// Throws Error(input).
  Node whole();

 private:
  /// Counts a nesting level during its lifetime.
  struct Level {
    explicit Level(ExpressionParser& parser) : depth(parser.depth_) {
      if (++depth > kDeepestExpression)
        parser.tokens_.refuse(fmt::format("nested more than {} levels deep", kDeepestExpression));
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth; }
    int& depth;
  };

  Node choice();
  Node disjunction();
  Node conjunction();
  Node negation();
  std::optional<Relation> take_relation();
  Node comparison();
  Node sum();
  Node product();
  Node signed_power();
  Node members();

  std::string name(std::string_view of_what);
  Node primary();
  Node number();
  Node named();
  [[noreturn]] void refuse_name(std::string_view word);
  Node call(Op op);
  Node container();  // after `in`

  Tokens tokens_;
  Vocabulary& vocabulary_;
  int depth_ = 0;
};

// The primary expressions: names, numbers, strings, calls, lists.

constexpr std::array<std::pair<std::string_view, Op>, 7> kFunctions = {
    {{"ceil", Op::ceiling},
     {"floor", Op::floor},
     {"abs", Op::absolute},
     {"int", Op::to_whole},
     {"is_integer", Op::nearly_whole},
     {"min", Op::smaller},
     {"max", Op::larger}}};

Node constant(Operand literal) {
  Node node;
  node.literal = std::move(literal);
  return node;
}

Node text_node(std::string_view text) {
  Node node;
  node.op = Op::text;
  node.text = text;
  return node;
}

std::string ExpressionParser::name(std::string_view of_what) {
  if (tokens_.next().kind != TokenKind::name)
    tokens_.refuse(fmt::format("expected the name of {}", of_what));
  return std::string(tokens_.take().text);
}

Node ExpressionParser::primary() {
  const Token& token = tokens_.next();
  if (token.kind == TokenKind::number) return number();
  if (token.kind == TokenKind::text) return text_node(tokens_.take().text);
  if (token.kind == TokenKind::name) return named();
  tokens_.expect("(");
  Node node = choice();
  tokens_.expect(")");
  return node;
}

Node ExpressionParser::number() {
  const std::string_view text = tokens_.next().text;
  const bool whole = text.find_first_of(".e") == std::string_view::npos;
  if (whole) {
    tokens_.take();
    return constant(Operand(ExactInteger::of_digits(text)));
  }
  double real = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error != std::errc() || end != text.data() + text.size()) tokens_.refuse("expected a number");
  tokens_.take();
  return constant(Operand(real));
}

Node ExpressionParser::named() {
  const std::string_view word = tokens_.next().text;
  for (const auto& [function, op] : kFunctions)
    if (word == function) return call(op);
  if (tokens_.take("value")) return node_of(Op::value);
  if (tokens_.take("metadata")) return node_of(Op::metadata);
  if (tokens_.take("time_ms")) return node_of(Op::time_ms);
  if (tokens_.take("true")) return constant(Operand(true));
  if (tokens_.take("false")) return constant(Operand(false));
  if (tokens_.take("none")) return constant(Operand());
  if (tokens_.take("state")) {
    tokens_.expect(".");
    Node node = node_of(Op::state);
    node.text = name("a state variable");
    node.slot = vocabulary_.slot(node.text);
    return node;
  }
  const auto known = vocabulary_.constants.find(word);
  if (known == vocabulary_.constants.end()) refuse_name(word);
  tokens_.take();
  return constant(Operand(known->second));
}

void ExpressionParser::refuse_name(std::string_view word) {
  std::vector<std::string> all = {"value", "metadata", "time_ms", "state", "true", "false", "none"};
  for (const auto& [function, op] : kFunctions) all.emplace_back(function);
  for (const auto& [constant_name, value] : vocabulary_.constants) all.push_back(constant_name);
  tokens_.refuse(fmt::format("unknown name '{}'.{}", word, did_you_mean(word, all)));
}

Node ExpressionParser::call(Op op) {
  tokens_.take();
  tokens_.expect("(");
  Node node = node_of(op);
  node.children.push_back(choice());
  if (op == Op::smaller || op == Op::larger) {
    tokens_.expect(",");
    node.children.push_back(choice());
  }
  tokens_.expect(")");
  return node;
}

Node ExpressionParser::container() {
  const auto list = vocabulary_.lists.find(tokens_.next().text);
  if (tokens_.next().kind == TokenKind::name && list != vocabulary_.lists.end()) {
    tokens_.take();
    Node node = node_of(Op::list);
    for (const std::string& text : list->second) node.children.push_back(text_node(text));
    return node;
  }
  if (!tokens_.take("[")) return sum();
  Node node = node_of(Op::list);
  do node.children.push_back(sum());
  while (tokens_.take(","));
  tokens_.expect("]");
  return node;
}

constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {
    {{"==", Relation::equal},
     {"!=", Relation::unequal},
     {"<=", Relation::less_equal},
     {">=", Relation::greater_equal},
     {"<", Relation::less},
     {">", Relation::greater}}};

Node ExpressionParser::whole() {
  Node node = choice();
  if (tokens_.next().kind != TokenKind::end) tokens_.refuse("expected the end of the expression");
  return node;
}

Node ExpressionParser::choice() {
  const Level level(*this);
  Node first = disjunction();
  if (!tokens_.take("if")) return first;
  Node condition = disjunction();
  tokens_.expect("else");
  Node second = choice();
  return node_of(Op::choice, std::move(first), std::move(condition), std::move(second));
}

Node ExpressionParser::disjunction() {
  Node node = conjunction();
  while (tokens_.take("or")) node = node_of(Op::logical_or, std::move(node), conjunction());
  return node;
}

Node ExpressionParser::conjunction() {
  Node node = negation();
  while (tokens_.take("and")) node = node_of(Op::logical_and, std::move(node), negation());
  return node;
}

Node ExpressionParser::negation() {
  const Level level(*this);
  return tokens_.take("not") ? node_of(Op::logical_not, negation()) : comparison();
}

std::optional<Relation> ExpressionParser::take_relation() {
  for (const auto& [sign, relation] : kRelations)
    if (tokens_.take(sign)) return relation;
  return {};
}

Node ExpressionParser::comparison() {
  Node first = sum();
  if (tokens_.take("in")) return node_of(Op::contains, std::move(first), container());
  std::optional<Relation> relation = take_relation();
  if (!relation) return first;
  Node node = node_of(Op::comparison, std::move(first));
  for (; relation; relation = take_relation()) {
    node.relations.push_back(*relation);
    node.children.push_back(sum());
  }
  return node;
}

Node ExpressionParser::sum() {
  Node node = product();
  while (true) {
    if (tokens_.take("+"))
      node = node_of(Op::add, std::move(node), product());
    else if (tokens_.take("-"))
      node = node_of(Op::subtract, std::move(node), product());
    else
      return node;
  }
}

Node ExpressionParser::product() {
  Node node = signed_power();
  while (true) {
    if (tokens_.take("*"))
      node = node_of(Op::multiply, std::move(node), signed_power());
    else if (tokens_.take("/"))
      node = node_of(Op::divide, std::move(node), signed_power());
    else if (tokens_.take("%"))
      node = node_of(Op::remainder, std::move(node), signed_power());
    else
      return node;
  }
}

Node ExpressionParser::signed_power() {
  const Level level(*this);
  if (tokens_.take("-")) return node_of(Op::negative, signed_power());
  Node node = members();
  if (!tokens_.take("**")) return node;
  return node_of(Op::power, std::move(node), signed_power());
}

Node ExpressionParser::members() {
  Node node = primary();
  while (tokens_.take(".")) {
    node = node_of(Op::member, std::move(node));
    node.text = name("a member");
  }
  return node;
}

}  // namespace

Node parse_expression(std::string_view text, Vocabulary& vocabulary) {
  return ExpressionParser(text, vocabulary).whole();
}

}  // namespace bench::mlperf
