#include "results/output/document/csv_cell.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("a cell that begins a formula is a text for every spreadsheet, and is read back") {
  for (const std::string text :
       {"=cmd|'/c calc'!A0", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1"}) {
    INFO(text);
    CHECK(csv_cell(text) == "\"'" + text + "\"");
    CHECK(csv_text("'" + text) == text);
  }
  CHECK(csv_cell("=\"a\"") == "\"'=\"\"a\"\"\"");
}

TEST_CASE("other texts are quoted where RFC 4180 asks for it, and stay as they are") {
  CHECK(csv_cell("node01").compare("node01") == 0);
  CHECK(csv_cell("").empty());
  CHECK(csv_cell("a=b") == "a=b");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("a \"b\"\r\nc") == "\"a \"\"b\"\"\r\nc\"");
  CHECK(csv_text("'quoted'") == "'quoted'");
  CHECK(csv_text("plain") == "plain");
}
