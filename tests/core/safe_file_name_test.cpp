#include "core/whole_file.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("names from outside become file names, and differ where names do") {
  CHECK(safe_file_name("node01.rack-2") == "node01.rack-2");
  for (const char* name :
       {"../etc", "a/b", "", ".hidden", "a b", "<script>", "a\nb", "index", "/tmp/x"}) {
    INFO(name);
    const std::string safe = safe_file_name(name);
    CHECK(safe.find_first_of("/<> \n") == std::string::npos);
    CHECK_FALSE(safe.starts_with('.'));
    CHECK(safe != name);
  }
  CHECK(safe_file_name("a/b") != safe_file_name("a-b"));
  CHECK(safe_file_name("a/b") != safe_file_name("a b"));
  CHECK(safe_file_name(std::string(5000, 'x')).size() < 200);
}
