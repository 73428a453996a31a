// The regular expression that splits a text into the pieces that are encoded one by one, by PCRE2's
// compiler to machine code. Patterns are written for Rust's or Oniguruma's engine: \s is Unicode's
// White_Space here as there, and what the engines do not read alike is refused. Which characters
// are letters or numbers is up to the version of Unicode that PCRE2 knows.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace bench::tokenizer {

/// Why this build does not split by patterns; "" if it does.
std::string why_no_patterns();
/// "PCRE2 10.42 2022-12-11"; "" without it.
std::string pattern_library();

/// The pattern of a vocabulary that is named by its model: gpt2, cl100k_base, o200k_base, llama3.
/// Throws Error(input) with the known names.
std::string named_pattern(std::string_view name);

/// The first construct of a pattern that PCRE2, Rust's and Oniguruma's engine do not read alike,
/// such as "$", "\w" or "&& inside brackets"; "" if there is none. Supported are literals, '.',
/// classes without nested ones, \s \S \d \D \r \n \t \f \x{...} \A \z, \p{...} and \P{...} of
/// general categories, groups, lookarounds, (?i:...), and repetitions.
std::string unsupported_syntax(std::string_view pattern);

class SplitPattern {
 public:
  /// Throws Error(input) with `origin` for an invalid pattern, unsupported syntax, or a pattern
  /// that matches the empty text; Error(environment) without PCRE2.
  SplitPattern(const std::string& pattern, const std::string& origin);
  ~SplitPattern();
  SplitPattern(SplitPattern&&) noexcept;

  struct Found {
    std::size_t begin = 0, end = 0;  // equal: there is no further match
  };

  /// For one thread.
  class Matcher {
   public:
    explicit Matcher(const SplitPattern& pattern);
    ~Matcher();
    Matcher(Matcher&&) noexcept;

    /// The first match that begins at `from` or later; the text is valid UTF-8, and `from` the
    /// begin of a character. Throws Error(input) for a pattern that takes too many steps.
    Found next(std::string_view text, std::size_t from);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace bench::tokenizer
