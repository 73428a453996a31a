#include "core/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::string read_all(const Descriptor& fd) {
  std::string text;
  char bytes[4096];
  for (ssize_t got; (got = read(fd.get(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  return text;
}

struct Ended {
  std::string output;
  Exit exit;
};

/// Runs a command to its end, with its output in a pipe.
Ended run(ChildOptions options) {
  Pipe out = make_pipe();
  options.descriptors = {kNullDevice, out.write.get(), STDERR_FILENO};
  const Child child = spawn(options);
  REQUIRE(child.failure == 0);
  out.write.close();
  std::string output = read_all(out.read);
  return {std::move(output), wait_for(child.pid)};
}

Ended run_script(const std::string& script, ChildOptions options = {}) {
  options.argv = {"sh", "-c", script};
  return run(std::move(options));
}

}  // namespace

TEST_CASE("a program that cannot be started gives the kernel's reason and leaves no child") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "program";
  std::ofstream(file) << "no program\n";
  CHECK(spawn({.argv = {"/no/such/program"}}).failure == ENOENT);
  CHECK(spawn({.argv = {"no-such-program-in-path"}}).failure == ENOENT);
  CHECK(spawn({.argv = {folder.path()}}).failure == EACCES);
  CHECK(spawn({.argv = {file}}).failure == EACCES);
  REQUIRE(chmod(file.c_str(), 0755) == 0);
  CHECK(spawn({.argv = {file}}).failure == ENOEXEC);
  CHECK(spawn({.argv = {"sh"}, .folder = "/no/such/folder"}).failure == ENOENT);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a child runs in the given folder") {
  const TemporaryDirectory folder;
  CHECK(run_script("pwd -P", {.folder = folder.path()}).output ==
        std::filesystem::canonical(folder.path()).string() + "\n");
  CHECK(run_script("pwd -P").output == std::filesystem::current_path().string() + "\n");
}

TEST_CASE("a child has the given environment, or ours") {
  setenv("BENCH_TEST_OURS", "1", 1);
  CHECK(run({.argv = {"env"}, .env = {{{"ONE", "1"}, {"TWO", "a=b"}}}}).output ==
        "ONE=1\nTWO=a=b\n");
  CHECK_THAT(run({.argv = {"env"}}).output, Contains("BENCH_TEST_OURS=1\n"));
  CHECK(current_environment().at("BENCH_TEST_OURS") == "1");
  unsetenv("BENCH_TEST_OURS");
  CHECK(!current_environment().contains("BENCH_TEST_OURS"));
}

TEST_CASE("a child has the given descriptors and no others") {
  const Descriptor inherited(open("/dev/null", O_RDONLY));  // not closed on exec
  REQUIRE(inherited.valid());
  CHECK(run_script("ls /proc/$$/fd; true").output == "0\n1\n2\n");
  CHECK(run_script("readlink /proc/$$/fd/0").output == "/dev/null\n");
}

TEST_CASE("a child gets descriptors in any order, also such as are in each other's place") {
  Pipe first = make_pipe(), second = make_pipe();
  const int lower = std::min(first.write.get(), second.write.get());
  REQUIRE(lower < 16);
  std::vector<int> descriptors(17, kNullDevice);
  descriptors[1] = STDOUT_FILENO;
  descriptors[2] = STDERR_FILENO;
  descriptors[static_cast<std::size_t>(first.write.get())] = second.write.get();
  descriptors[static_cast<std::size_t>(second.write.get())] = first.write.get();
  const std::string to = "/proc/$$/fd/";
  const Child child =
      spawn({.argv = {"sh", "-c",
                      "printf one > " + to + std::to_string(first.write.get()) + "; printf two > " +
                          to + std::to_string(second.write.get())},
             .descriptors = descriptors});
  REQUIRE(child.failure == 0);
  CHECK(wait_for(child.pid).clean());
  first.write.close();
  second.write.close();
  CHECK(read_all(first.read) == "two");
  CHECK(read_all(second.read) == "one");
}

TEST_CASE("an exit code or a signal tells how a child ended") {
  CHECK(run_script("exit 3").exit.text() == "exit code 3");
  CHECK(!run_script("exit 3").exit.clean());
  CHECK(run_script("exit 0").exit.clean());
  const Exit killed = run_script("kill -SEGV $$").exit;
  CHECK(killed.signaled);
  CHECK(killed.code == SIGSEGV);
  CHECK(killed.text() == "SIGSEGV (Segmentation fault)");
  CHECK(Exit{true, 60}.text() == "signal 60");
}

TEST_CASE("a child leads its own session or group only if asked to") {
  const std::string ids = "read pid name state parent group session rest < /proc/$$/stat; echo ";
  using Group = ChildOptions::Group;
  const std::string ours = std::to_string(getpgid(0)) + " " + std::to_string(getsid(0)) + "\n";
  CHECK(run_script(ids + "$group $session").output == ours);
  const std::string alone = "$((group == $$)) $((session == $$))";
  CHECK(run_script(ids + alone, {.group = Group::own_group}).output == "1 0\n");
  CHECK(run_script(ids + alone, {.group = Group::own_session}).output == "1 1\n");
}

TEST_CASE("a child has no signal blocked or ignored, whatever we do") {
  sigset_t blocked, former;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &former);
  const auto handler = signal(SIGHUP, SIG_IGN);
  const Exit terminated = run_script("kill -TERM $$; exit 0").exit;
  const Exit hung_up = run_script("kill -HUP $$; exit 0").exit;
  signal(SIGHUP, handler);
  sigprocmask(SIG_SETMASK, &former, nullptr);
  CHECK(terminated.text() == "SIGTERM (Terminated)");
  CHECK(hung_up.text() == "SIGHUP (Hangup)");
}

TEST_CASE("a program that is missing or not executable is named, with what to do") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "program";
  std::ofstream(file) << "#!/bin/sh\n";
  CHECK_THROWS_WITH(find_program(file), Contains("is not an executable file"));
  CHECK_THROWS_WITH(find_program("/no/such/program"), Contains("/no/such/program: not found"));
  CHECK_THROWS_WITH(find_program("no-such-program-in-path"), Contains("is not in PATH"));
  CHECK_THAT(find_program("sh"), Contains("/sh"));
  CHECK(find_program("/bin/sh") == "/bin/sh");
}

TEST_CASE("a program is not looked up in the current folder, whatever PATH says") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "planted-program";
  std::ofstream(file) << "#!/bin/sh\n";
  chmod(file.c_str(), 0755);
  const auto former = std::filesystem::current_path();
  const std::string path = environment_variable("PATH");
  std::filesystem::current_path(folder.path());
  std::vector<std::string> found;
  for (const std::string& where : {":" + path, ".:" + path, path + "::", path + ":."}) {
    setenv("PATH", where.c_str(), 1);
    if (spawn({.argv = {"planted-program"}}).failure != ENOENT) found.push_back(where);
  }
  setenv("PATH", path.c_str(), 1);
  std::filesystem::current_path(former);
  CHECK(found.empty());
}
