// The tokens and the parser of the expression language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mlperf/rules/expression.h"

namespace bench::mlperf {

enum class TokenKind : std::uint8_t { end, number, text, name, sign };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text = {};  // of a string without its quotes
  std::size_t place = 0;       // in the expression, from 0
};

class Tokens {
 public:
  /// Throws Error(input).
  explicit Tokens(std::string_view expression);

  const Token& next() const { return token_; }
  Token take();
  /// Consumes the next token if it is this sign or word.
  bool take(std::string_view sign_or_word);
  /// Throws Error(input) if it is not.
  void expect(std::string_view sign_or_word);
  /// Throws Error(input) with the expression and the position of the next token.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void advance();

  std::string_view expression_;
  std::size_t end_ = 0;  // of the token
  Token token_ = {};
};

/// Throws Error(input).
Node parse_expression(std::string_view text, Vocabulary& vocabulary);

}  // namespace bench::mlperf
