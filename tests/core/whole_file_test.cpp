#include "core/whole_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/json.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

TEST_CASE("a file is replaced atomically: open descriptors keep reading the old one") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "bench.prom";
  replace_file(path, "old\n");
  std::ifstream reader(path);
  replace_file(path, "new\n");
  std::string line;
  std::getline(reader, line);
  CHECK(line == "old");
  CHECK(read_file(path) == "new\n");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("a failed replacement leaves the old file and no temporary file") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "taken";
  std::filesystem::create_directory(path);
  std::ofstream(path / "inside") << "kept";
  CHECK_THROWS_AS(replace_file(path, "text"), Error);
  CHECK(read_file(path / "inside") == "kept");
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder.path()))
    ++files;
  CHECK(files == 1);
  CHECK_THROWS_AS(replace_file(folder.path() / "none" / "x.prom", "text"), Error);
}

}  // namespace
}  // namespace bench
