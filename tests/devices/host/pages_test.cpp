#include "devices/host/pages.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

void write_enabled(const TemporaryDirectory& root, const std::string& text) {
  const auto folder = root.path() / "sys/kernel/mm/transparent_hugepage";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "enabled") << text << "\n";
}

constexpr char kSmaps[] =
    "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\n"
    "AnonHugePages:      2048 kB\n"
    "VmFlags: rd wr mr mw me ac sd hg \n"
    "7f0000500000-7f0000900000 rw-p 00000000 00:00 0  [heap]\n"
    "AnonHugePages:      4096 kB\n";

}  // namespace

TEST_CASE("a mapping is whole pages, aligned to a huge page, writable to its end") {
  for (Pages pages : {Pages::small, Pages::huge}) {
    const PageMapping mapping(10000, pages);
    CHECK(mapping.bytes() >= 10000);
    CHECK(reinterpret_cast<std::uintptr_t>(mapping.data()) % huge_page_bytes() == 0);
    std::memset(mapping.data(), 1, mapping.bytes());
  }
}

TEST_CASE("small pages are no huge pages") {
  const PageMapping mapping(8u << 20, Pages::small);
  std::memset(mapping.data(), 1, mapping.bytes());
  CHECK(mapping.huge_share(mapping.bytes()) == 0.0);
}

TEST_CASE("a failed allocation is an error with the requested size") {
  CHECK_THROWS_WITH(PageMapping(std::size_t{1} << 60, Pages::small),
                    Catch::Contains("PiB") || Catch::Contains("B"));
}

TEST_CASE("a NUMA node that does not exist is refused, naming it") {
  CHECK_THROWS_WITH(PageMapping(4096, Pages::small, 1000), Catch::Contains("node 1000"));
}

TEST_CASE("huge pages are counted for the mapping asked about and no other") {
  std::istringstream one(kSmaps);
  CHECK(huge_bytes(one, 0x7f0000000000, 0x7f0000400000) == 2048 * 1024.0);
  std::istringstream both(kSmaps);
  CHECK(huge_bytes(both, 0x7f0000000000, 0x7f0000900000) == 6144 * 1024.0);
  std::istringstream none(kSmaps);
  CHECK(huge_bytes(none, 0x7f0000000000, 0x7f0000300000) == 0.0);
  std::istringstream garbage("zz\n-\n7f-\nAnonHugePages: 99 kB\n");
  CHECK(huge_bytes(garbage, 0, ~std::uintptr_t{0}) == 0.0);
}

TEST_CASE("missing huge pages are explained with the kernel's setting") {
  TemporaryDirectory root;
  CHECK_THAT(no_huge_pages(root.path()), Catch::Contains("has no transparent huge pages"));
  write_enabled(root, "always madvise [never]");
  CHECK_THAT(no_huge_pages(root.path()), Catch::Contains("always madvise [never]"));
  write_enabled(root, "always [madvise] never");
  CHECK(no_huge_pages(root.path()) == "");
}

}  // namespace bench
