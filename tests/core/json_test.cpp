#include "core/json.h"

#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Contains;

namespace {

std::string json_refusal(std::string_view text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.what();
  }
  return "accepted";
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

}  // namespace

TEST_CASE("a syntax error names file, line and column") {
  CHECK_THAT(json_refusal("{\n  \"a\": 1,\n  \"b\" 2}"), Contains("x.json:3:7: not valid JSON"));
  CHECK_THAT(json_refusal(""), Contains("x.json:1:1: not valid JSON"));
  CHECK_THAT(json_refusal("{} x"), Contains("x.json:1:4: not valid JSON"));
}

TEST_CASE("a duplicate key in an object is refused and named") {
  CHECK_THAT(json_refusal(R"({"a": 1, "b": {"a": 2}, "a": 3})"), Contains("duplicate key 'a'"));
  CHECK_THAT(json_refusal(R"([{"x": [{"k": 1, "k": 1}]}])"), Contains("duplicate key 'k'"));
  CHECK(json_refusal(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}]})") == "accepted");
}

TEST_CASE("nesting is refused past its limit and not before") {
  CHECK(json_refusal(nested(kMaxJsonDepth)) == "accepted");
  CHECK_THAT(json_refusal(nested(kMaxJsonDepth + 1)), Contains("nested deeper than 64 levels"));
  CHECK_THAT(json_refusal(std::string(1'000'000, '[')), Contains("nested deeper than 64 levels"));
}

TEST_CASE("invalid JSON is refused: bad UTF-8, NaN, numbers out of range, comments") {
  for (const char* text : {"\"\xff\"", "NaN", "[1e999]", "{} // x", "'a'", "[1,]", "\"\x01\""})
    CHECK_THAT(json_refusal(text), Contains("not valid JSON"));
}

TEST_CASE("reading a folder or a missing file as JSON is an error") {
  const TemporaryDirectory folder;
  CHECK_THROWS_WITH(read_json(folder.path()), Contains("cannot read " + folder.path().string()) &&
                                                  Contains("Is a directory"));
  CHECK_THROWS_WITH(read_json(folder.path() / "none.json"), Contains("No such file or directory"));
}

TEST_CASE("an error in a file names the file") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "a.json";
  std::ofstream(path) << "[1, 2\n";
  CHECK_THROWS_WITH(read_json(path), Contains(path.string() + ":2:"));
  std::ofstream(path, std::ios::trunc) << "[1, 2]";
  CHECK(read_json(path) == Json({1, 2}));
}

TEST_CASE("dump never fails: bytes that are no UTF-8 are replaced, NaN becomes null") {
  CHECK(dump(Json("a\xff")) == "\"a\xef\xbf\xbd\"");
  CHECK(dump(Json(NAN)) == "null");
  CHECK(dump(Json{{"b", 1}, {"a", 2}}) == R"({"a":2,"b":1})");
}

TEST_CASE("an excerpt is short and ends between two characters") {
  CHECK(excerpt(Json("short")) == "\"short\"");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  const std::string text = excerpt(Json(umlauts));
  CHECK(text.size() < 70);
  CHECK_NOTHROW(Json(text).dump());  // strict: throws for half a character
}

TEST_CASE("invalid JSON is nothing for a reader that needs no reason") {
  CHECK(try_parse_json(R"({"a": 1})") == Json{{"a", 1}});
  CHECK(try_parse_json("null") == Json());
  for (const char* invalid : {"", "{", "1 2", R"({"a": 1, "a": 2})", "\xff"})
    CHECK_FALSE(try_parse_json(invalid));
  CHECK_FALSE(try_parse_json(std::string(100'000, '[')));
}

TEST_CASE("bytes that are not UTF-8 are replaced, the rest of a text stays") {
  CHECK(replace_invalid_utf8("plain \"quoted\" \n") == "plain \"quoted\" \n");
  CHECK(replace_invalid_utf8("a\xff"
                             "b") ==
        "a\xef\xbf\xbd"
        "b");
}
