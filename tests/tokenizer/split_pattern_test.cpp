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
TEST_CASE("the build found PCRE2 and has it") { CHECK(no_patterns().empty()); }
#endif

TEST_CASE("blanks are Unicode's White_Space, as in the engines that patterns are written for") {
  if (!no_patterns().empty()) return;
  const std::string blanks =
      "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000";
  CHECK(matches(R"(\s+)", "a" + blanks + "b") == Texts{blanks});
  CHECK(matches(R"([\s]+)", "a" + blanks + "b") == Texts{blanks});
  CHECK(matches(R"([^\s]+)", "a" + blanks + "b") == Texts{"a", "b"});
  CHECK(matches(R"(\S+)", blanks + "\u180e\u200b\ufeff") == Texts{"\u180e\u200b\ufeff"});
  CHECK(matches(R"([]\s]+)", "a] ]b") == Texts{"] ]"});
  CHECK(matches(R"(\\s)", "a\\s s") == Texts{"\\s"});
  CHECK(matches(R"(\s+$)", " \n \n") == Texts{" \n \n"});
  CHECK_THROWS_WITH(SplitPattern(R"([\S]+)", "t.json"), Contains("\\S inside brackets"));
}

TEST_CASE("a pattern that is none, or matches nothing at all, is refused") {
  if (!no_patterns().empty()) return;
  CHECK_THROWS_WITH(SplitPattern("(a", "t.json"), Contains("t.json: pattern '(a' is not one"));
  CHECK_THROWS_WITH(SplitPattern("a*", "t.json"), Contains("matches the empty text"));
  CHECK_THROWS_WITH(SplitPattern("", "t.json"), Contains("matches the empty text"));
  CHECK_THROWS_WITH(SplitPattern(std::string(100000, 'a'), "t.json"), Contains("100000 bytes"));
  CHECK_THROWS_WITH(SplitPattern(std::string(100, '(') + "a" + std::string(100, ')'), "t.json"),
                    Contains("is not one"));
  CHECK_THROWS_WITH(named_pattern("gpt5"), Contains("unknown pattern 'gpt5'"));
}

TEST_CASE("a pattern that tries too many ways is given up") {
  if (!no_patterns().empty()) return;
  CHECK_THROWS_WITH(matches("(?:a|aa|aaa)+[bc]", std::string(60, 'a') + "d"),
                    Contains("failed at byte 0 of a text of 61"));
}

TEST_CASE("named patterns take long runs of any kind of character") {
  if (!no_patterns().empty()) return;
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
