// Files that are written whole.
#include "core/error.h"
#include "core/json.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("a file is written whole, with its folders, over what was there") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "of" / "node1" / "page.html";
  write_file(file, "a longer text\n");
  write_file(file, "short\r\n");
  CHECK(read_file(file) == "short\r\n");
}

TEST_CASE("an unwritable file is named in the error") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "page.html";
  write_file(file, "text");
  CHECK_THROWS_WITH(write_file(folder.path(), "text"), Contains(folder.path().string()));
  CHECK_THROWS_WITH(write_file(file / "page.html", "text"), Contains("page.html/page.html"));
}
