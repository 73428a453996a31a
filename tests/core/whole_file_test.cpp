#include "core/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/child_process.h"
#include "core/error.h"
#include "core/json.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using Catch::Matchers::Contains;

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

TEST_CASE("a read error is an error, not a shorter file") {
  // The first page of a process is never mapped: reading it fails with EIO.
  CHECK_THROWS_WITH(read_file("/proc/self/mem"), Contains("/proc/self/mem") && Contains("error"));
  const std::filesystem::path short_one = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (std::filesystem::exists(short_one))  // says that it has 4096 bytes
    CHECK_THROWS_WITH(read_file(short_one), Contains("of 4096 bytes"));
}

TEST_CASE("files without a size and files that grow are read to their end") {
  CHECK_FALSE(read_file("/proc/self/cmdline").empty());
  const TemporaryDirectory folder;
  const auto path = folder.path() / "text";
  const std::string text(300'000, 'x');
  write_file(path, text + "end");
  CHECK(read_file(path) == text + "end");
  CHECK(read_file(path, 300'000) == "end");
  CHECK(read_file(path, 400'000).empty());
}

TEST_CASE("named pipes, devices, folders and huge files are refused at once") {
  const TemporaryDirectory folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  alarm(10);  // opening a pipe without a writer would wait for ever
  CHECK_THROWS_WITH(read_file(pipe), Contains("not a regular file"));
  CHECK_THROWS_WITH(read_file("/dev/zero"), Contains("not a regular file"));
  CHECK_THROWS_WITH(read_file(folder.path()), Contains("Is a directory"));
  const auto huge = folder.path() / "huge";
  write_file(huge, "x");
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);
  CHECK_THROWS_WITH(read_file(huge), Contains("more than 4294967296"));
  alarm(0);
}

TEST_CASE("a pipe that the shell passed is read to its end") {
  Pipe pipe = make_pipe();
  REQUIRE(write_all(pipe.write.get(), "text"));
  pipe.write.close();
  CHECK(read_file("/dev/fd/" + std::to_string(pipe.read.get())) == "text");
}

TEST_CASE("closed standard descriptors are opened, but not to be written") {
  const pid_t child = fork();
  if (child == 0) {
    close(STDIN_FILENO), close(STDOUT_FILENO), close(STDERR_FILENO);
    open_standard_descriptors();
    const int next = open("/dev/null", O_WRONLY);
    const bool right = next > STDERR_FILENO && write(STDOUT_FILENO, "x", 1) < 0 &&
                       write(STDERR_FILENO, "x", 1) < 0;
    _exit(right ? 0 : 1);
  }
  CHECK(wait_for(child).clean());
}

}  // namespace
}  // namespace bench
