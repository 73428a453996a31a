#include "core/locations.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

TEST_CASE("only a slash or .json makes a name a path") {
  CHECK(is_path("./smoke"));
  CHECK(is_path("smoke.json"));
  CHECK_FALSE(is_path("smoke"));
  CHECK_FALSE(is_path(""));
}

TEST_CASE("what everybody can write to, or is missing, is not trusted") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "file";
  std::ofstream(file) << "{}";
  CHECK(is_trusted(file));
  CHECK_FALSE(is_trusted("/tmp"));
  CHECK_FALSE(is_trusted(folder.path() / "missing"));
  chmod(file.c_str(), 0666);
  CHECK_FALSE(is_trusted(file));
}
