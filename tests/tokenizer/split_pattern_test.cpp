#include "tokenizer/split_pattern.h"

#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::tokenizer {
namespace {

using Catch::Matchers::Contains;

std::vector<std::string> matches(const std::string& pattern, const std::string& text) {
  const SplitPattern split(pattern, "test");
  SplitPattern::Matcher matcher(split);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const auto [begin, end] = matcher.next(text, at);
    if (begin == end) break;
    found.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return found;
}

using Texts = std::vector<std::string>;

#ifdef BENCH_PCRE2_FOUND
TEST_CASE("the build found PCRE2 and has it") { CHECK(why_no_patterns().empty()); }
#endif

TEST_CASE("whitespace is Unicode's White_Space, as in the engines that patterns are written for") {
  if (!why_no_patterns().empty()) return;
  const std::string whitespace =
      "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000";
  CHECK(matches(R"(\s+)", "a" + whitespace + "b") == Texts{whitespace});
  CHECK(matches(R"([\s]+)", "a" + whitespace + "b") == Texts{whitespace});
  CHECK(matches(R"([^\s]+)", "a" + whitespace + "b") == Texts{"a", "b"});
  CHECK(matches(R"(\S+)", whitespace + "\u180e\u200b\ufeff") == Texts{"\u180e\u200b\ufeff"});
  CHECK(matches(R"([\]\s]+)", "a] ]b") == Texts{"] ]"});
  CHECK(matches(R"(\\s)", "a\\s s") == Texts{"\\s"});
  CHECK(matches(R"(\s+\z)", " \n \n") == Texts{" \n \n"});
}

TEST_CASE("a pattern that is none, or matches nothing at all, is refused") {
  if (!why_no_patterns().empty()) return;
  CHECK_THROWS_WITH(SplitPattern("(a", "t.json"), Contains("t.json: pattern '(a' is invalid"));
  CHECK_THROWS_WITH(SplitPattern("a*", "t.json"), Contains("matches the empty text"));
  CHECK_THROWS_WITH(SplitPattern("", "t.json"), Contains("matches the empty text"));
  CHECK_THROWS_WITH(SplitPattern(std::string(100000, 'a'), "t.json"), Contains("100000 bytes"));
  CHECK_THROWS_WITH(SplitPattern(std::string(100, '(') + "a" + std::string(100, ')'), "t.json"),
                    Contains("is invalid"));
  CHECK_THROWS_WITH(named_pattern("gpt5"), Contains("unknown pattern 'gpt5'"));
}

TEST_CASE("what engines do not read alike is refused by its construct") {
  const struct {
    std::string pattern, construct;
  } kCases[] = {
      {R"(\s+$|a)", "$"},
      {R"(^a)", "^"},
      {R"(\w+)", R"(\w)"},
      {R"(\W+)", R"(\W)"},
      {R"(a\b)", R"(\b)"},
      {R"(a\B)", R"(\B)"},
      {R"(\h+)", R"(\h)"},
      {R"(\H+)", R"(\H)"},
      {R"(a\Kb)", R"(\K)"},
      {R"(\R)", R"(\R)"},
      {R"(\X)", R"(\X)"},
      {R"(\Ga)", R"(\G)"},
      {R"(\Qa\E)", R"(\Q)"},
      {R"((a)\1)", R"(\1)"},
      {R"(\Z)", R"(\Z)"},
      {R"(\v)", R"(\v)"},
      {R"(\x41)", R"(\x)"},
      {R"([^a[bc]])", "[ inside brackets"},
      {R"([[:alpha:]\s])", "[ inside brackets"},
      {R"([\p{L}&&a])", "&& inside brackets"},
      {R"([a--b])", "-- inside brackets"},
      {R"([a~~b])", "~~ inside brackets"},
      {R"([\S]+)", R"(\S inside brackets)"},
      {R"([\b])", R"(\b inside brackets)"},
      {R"([]a])", "[]"},
      {R"([^]a])", "[]"},
      {R"((?m:a.b))", "(?m"},
      {R"((?i)a)", "(?i"},
      {R"((?-i:a))", "(?-i"},
      {R"((*UCP)a)", "(*UCP"},
      {R"((?<name>a))", "(?<name>a"},
      {R"((?#comment)a)", "(?#comment"},
      {R"(\p{Han}+)", R"(\p{Han})"},
      {R"(\p{^L}+)", R"(\p{^L})"},
      {R"(\pL+)", R"(\p)"},
      {R"(\p{N}{1,3}+)", "}+"},
      {R"(a{2}?)", "}?"},
      {R"(a{,3})", "{"},
      {R"(a\)", R"(\ at the end)"},
      // A match that begins before, or ends before it begins: \K called in a lookaround.
      {R"((?(DEFINE)(?<k>\Ka))(?<=(?&k))a)", "(?(DEFINE"},
      {R"((?(DEFINE)(?<k>ab\K))(?=(?&k))a)", "(?(DEFINE"},
      {R"((?=(?1))a|(b\K))", "(?1"},
  };
  for (const auto& [pattern, construct] : kCases) {
    INFO(pattern);
    CHECK(unsupported_syntax(pattern) == construct);
    if (why_no_patterns().empty())
      CHECK_THROWS_WITH(SplitPattern(pattern, "t.json"),
                        Contains("t.json: pattern '") && Contains("' has '" + construct + "'"));
  }
}

TEST_CASE("patterns of well-known tokenizers are supported") {
  for (const char* name : {"gpt2", "cl100k_base", "o200k_base", "llama3"}) {
    INFO(name);
    CHECK(unsupported_syntax(named_pattern(name)).empty());
  }
  const std::string known[] = {
      // tiktoken's o200k_base
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N})",
      // Qwen 2
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
      R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
      // DeepSeek V3
      R"(\p{N}{1,3})",
      R"([一-龥぀-ゟ゠-ヿ]+)",
      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
      R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
  };
  for (const std::string& pattern : known) {
    INFO(pattern);
    CHECK(unsupported_syntax(pattern).empty());
    if (why_no_patterns().empty()) CHECK_NOTHROW(SplitPattern(pattern, "t.json"));
  }
}

TEST_CASE("a pattern that tries too many ways is given up") {
  if (!why_no_patterns().empty()) return;
  CHECK_THROWS_WITH(matches("(?:a|aa|aaa)+[bc]", std::string(60, 'a') + "d"),
                    Contains("failed at byte 0 of a text of 61"));
}

TEST_CASE("named patterns take long runs of any kind of character") {
  if (!why_no_patterns().empty()) return;
  for (const char* name : {"gpt2", "cl100k_base", "o200k_base", "llama3"})
    for (const char* character : {"a", "A", " ", "\n", ".", "é", "漢", "\u0301", "🙂"}) {
      INFO(name << " " << character);
      std::string text;
      for (int i = 0; i < 50000; ++i) text += character;
      text += "x1";
      std::string together;
      for (const std::string& piece : matches(named_pattern(name), text)) together += piece;
      CHECK(together == text);
    }
}

}  // namespace
}  // namespace bench::tokenizer
