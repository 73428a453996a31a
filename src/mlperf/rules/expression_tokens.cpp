#include "mlperf/rules/expression_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "mlperf/rules/expression.h"

namespace bench::mlperf {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::array<std::string_view, 18> kSigns = {
    "**", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", ".", "="};

bool is_one_of(char byte, std::string_view bytes) {
  return bytes.find(byte) != std::string_view::npos;
}

/// The length in bytes of the number at the start of `text`: 12, 0.5, 1e-08.
std::size_t number_length(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && is_one_of(text[from], kDigits)) ++from;
    return from;
  };
  std::size_t end = digits(0);
  if (end < text.size() && text[end] == '.') end = digits(end + 1);
  if (end >= text.size() || text[end] != 'e') return end;
  const std::size_t sign = end + 1 < text.size() && is_one_of(text[end + 1], "+-") ? 1 : 0;
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
  if (is_one_of(rest[0], kDigits)) {
    token_ = {TokenKind::number, rest.substr(0, number_length(rest)), first};
  } else if (is_one_of(rest[0], kLetters)) {
    std::size_t size = 1;
    while (size < rest.size() &&
           (is_one_of(rest[size], kLetters) || is_one_of(rest[size], kDigits)))
      ++size;
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

}  // namespace bench::mlperf
