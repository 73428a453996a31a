#include "tokenizer/utf8.h"

#include <string>

#include "tests/support/catch.h"

namespace bench::tokenizer {
namespace {

TEST_CASE("a text is valid up to the first byte that no character has") {
  using std::string_literals::operator""s;
  CHECK(valid_utf8("") == 0);
  CHECK(valid_utf8("plain text of more than eight bytes") == 35);
  CHECK(valid_utf8("é€😀") == 9);
  CHECK(valid_utf8("12345678é\x80") == 10);
  for (const std::string& wrong :
       {"\x80"s, "\xc0\xaf"s, "\xc1\xbf"s, "\xe0\x80\x80"s, "\xed\xa0\x80"s, "\xf0\x80\x80\x80"s,
        "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "\xe2\x82"s, "\xc3"s, "\xf0\x9f\x98"s}) {
    CHECK(valid_utf8("ab" + wrong + "cd") == 2);
    // A cut character at the end is not one either.
    CHECK(valid_utf8("ab" + wrong) == 2);
    CHECK(invalid_utf8(wrong + "cd") == wrong.size());
  }
  CHECK(valid_utf8("\xf4\x8f\xbf\xbf") == 4);
  CHECK(valid_utf8("\xed\x9f\xbf\xee\x80\x80") == 6);
  CHECK(valid_utf8("a\0b"s) == 3);
}

TEST_CASE("a long text is cut between characters") {
  CHECK(cut_of_utf8("aé", 9) == 3);
  CHECK(cut_of_utf8("aéb", 2) == 1);
  CHECK(cut_of_utf8("aéb", 3) == 3);
  CHECK(cut_of_utf8("🙂🙂", 7) == 4);
  CHECK(cut_of_utf8("\x80\x80\x80\x80\x80\x80\x80", 6) == 6);  // no characters
}

}  // namespace
}  // namespace bench::tokenizer
