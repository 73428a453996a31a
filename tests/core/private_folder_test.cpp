#include "core/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "core/child_process.h"
#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string private_refusal(const fs::path& path) try {
  make_private_folder(path);
  return "";
} catch (const Error& error) {
  return error.what();
}

std::string own_refusal(const fs::path& path) try {
  make_own_folder(path);
  return "";
} catch (const Error& error) {
  return error.what();
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

}  // namespace

TEST_CASE("a private folder is for this user alone, and is found again") {
  const TemporaryDirectory base;
  const fs::path folder = base.path() / "own";
  const mode_t former = umask(0);
  CHECK(private_refusal(folder).empty());
  umask(former);
  CHECK(mode_of(folder) == 0700);
  CHECK(private_refusal(folder).empty());
}

TEST_CASE("a private folder that was prepared by others is refused with the reason") {
  const TemporaryDirectory base;
  fs::create_directory(base.path() / "target");
  chmod((base.path() / "target").c_str(), 0700);
  fs::create_directory_symlink(base.path() / "target", base.path() / "link");
  CHECK_THAT(private_refusal(base.path() / "link"), Contains("it is a symbolic link"));
  fs::create_symlink(base.path() / "missing", base.path() / "dangling");
  CHECK_THAT(private_refusal(base.path() / "dangling"), Contains("it is a symbolic link"));
  std::ofstream(base.path() / "file") << "";
  CHECK_THAT(private_refusal(base.path() / "file"), Contains("it is no folder"));
  fs::create_directory(base.path() / "open");
  chmod((base.path() / "open").c_str(), 0750);
  CHECK_THAT(private_refusal(base.path() / "open"),
             Contains("others have access") && Contains("0750"));
}

TEST_CASE("a private folder is not made where others could replace it") {
  const TemporaryDirectory base;
  chmod(base.path().c_str(), 0777);
  CHECK_THAT(private_refusal(base.path() / "own"), Contains("no sticky bit"));
  chmod(base.path().c_str(), 01777);
  CHECK(private_refusal(base.path() / "own").empty());
}

TEST_CASE("a folder of another user is refused") {
  if (geteuid() != 0) return;  // only root can give one away
  const TemporaryDirectory base;
  const fs::path folder = base.path() / "theirs";
  fs::create_directory(folder);
  chmod(folder.c_str(), 0700);
  REQUIRE(chown(folder.c_str(), 4711, 4711) == 0);
  CHECK_THAT(private_refusal(folder), Contains("belongs to another user (UID 4711)"));
  CHECK_THAT(own_refusal(folder), Contains("belongs to another user (UID 4711)"));
}

TEST_CASE("a folder on storage under test is made once for all ranks, and never a link") {
  const TemporaryDirectory base;
  CHECK(own_refusal(base.path() / "work").empty());
  CHECK(own_refusal(base.path() / "work").empty());
  CHECK(mode_of(base.path() / "work") == 0700);
  fs::create_directory_symlink(base.path() / "work", base.path() / "link");
  CHECK_THAT(own_refusal(base.path() / "link"), Contains("it is a symbolic link"));
}

TEST_CASE("temporary files lie in a folder named after the user") {
  const TemporaryDirectory base;
  const std::string former = environment_variable("TMPDIR");
  setenv("TMPDIR", base.path().c_str(), 1);
  const fs::path folder = private_temporary_folder();
  former.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", former.c_str(), 1);
  CHECK(folder == base.path() / ("benchctl-" + std::to_string(geteuid())));
  CHECK(mode_of(folder) == 0700);
}

TEST_CASE("the folders of a user's files are made for this user only, and existing ones kept") {
  const TemporaryDirectory base;
  fs::create_directory(base.path() / "old");
  chmod((base.path() / "old").c_str(), 0755);
  const mode_t former = umask(0);
  std::error_code failure;
  make_user_folders(base.path() / "old" / "state" / "runs/", failure);
  umask(former);
  CHECK_FALSE(failure);
  CHECK(mode_of(base.path() / "old") == 0755);
  CHECK(mode_of(base.path() / "old" / "state") == 0700);
  CHECK(mode_of(base.path() / "old" / "state" / "runs") == 0700);
  std::ofstream(base.path() / "file") << "";
  make_user_folders(base.path() / "file" / "runs", failure);
  CHECK(failure);
  failure.clear();
  make_user_folders(base.path() / "file", failure);
  CHECK(failure);
}
