#include "core/json_document.h"

#include <vector>

#include "tests/support/catch.h"

namespace bench {
namespace {

std::string written(const Json& head, const JsonLists& lists, std::size_t* pieces = nullptr) {
  std::string text;
  write_document(head, lists, [&](const std::string& piece) {
    text += piece;
    if (pieces != nullptr) ++*pieces;
  });
  return text;
}

JsonList squares(const std::vector<int>& numbers) {
  return json_list(numbers, [](int n) { return Json{{"n", n}, {"of", {n, {{"square", n * n}}}}}; });
}

TEST_CASE("a document written in pieces is the text of the whole") {
  const std::vector<int> some = {1, 2, 3}, none;
  const Json head = {
      {"a", 1}, {"nested", {{"list", {1, 2}}, {"empty", Json::object()}}}, {"z", {}}};
  for (const JsonLists& lists :
       {JsonLists{}, JsonLists{{"empty", squares(none)}},
        JsonLists{{"b", squares(some)}, {"m", squares(none)}, {"zz", squares(some)}}}) {
    CHECK(written(head, lists) == whole_document(head, lists).dump(1) + "\n");
    CHECK(written(Json::object(), lists) == whole_document(Json::object(), lists).dump(1) + "\n");
  }
}

TEST_CASE("items of a document's list are made one after another, each handed on before the next") {
  std::size_t pieces = 0, made = 0;
  const JsonList list{3, [&](std::size_t i) {
                        CHECK(pieces >= made);  // the item before has gone
                        ++made;
                        return Json(i);
                      }};
  CHECK(written({{"head", 1}}, {{"list", list}}, &pieces).find("0,\n  1,\n  2") !=
        std::string::npos);
  CHECK(made == 3);
}

TEST_CASE("a document takes text from outside: keys and values that are no UTF-8") {
  const std::vector<int> one = {1};
  const JsonLists lists = {{"\"quoted\"", json_list(one, [](int) { return Json("\xff\n\""); })}};
  const Json read = parse_json(written({{"x", "\xc2"}}, lists), "document");
  CHECK(read.at("\"quoted\"").size() == 1);
  CHECK(read.at("x").is_string());
}

}  // namespace
}  // namespace bench
