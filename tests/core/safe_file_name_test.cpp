#include "runner/pages/site_pages.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("names of pages are file names, and differ where names do") {
  CHECK(page_name("node01.rack-2") == "node01.rack-2");
  for (const char* name : {"../etc", "a/b", "", ".hidden", "a b", "<script>", "a\nb"}) {
    INFO(name);
    const std::string safe = page_name(name);
    CHECK(safe.find_first_of("/<> \n") == std::string::npos);
    CHECK_FALSE(safe.starts_with('.'));
    CHECK(safe != name);
  }
  CHECK(page_name("a/b") != page_name("a-b"));
  CHECK(page_name("a/b") != page_name("a b"));
  CHECK(page_name(std::string(5000, 'x')).size() < 200);
}
