#include "devices/nvml/guarded.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include "devices/facts/unreadable.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

std::string why(const Json& answer) {
  REQUIRE(is_unreadable(answer));
  return answer.at("unreadable");
}

/// No child of ours is left, neither running nor as a zombie.
bool childless() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

int open_files() {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST_CASE("the child's answer is returned unchanged") {
  const int before = open_files();
  const Json answer = guarded([] { return Json{{"a", {1, 2.5, "x"}}, {"pid", getpid()}}; });
  CHECK(answer.at("a") == Json{1, 2.5, "x"});
  CHECK(answer.at("pid") != getpid());
  CHECK(childless());
  CHECK(open_files() == before);
}

TEST_CASE("a question that is never answered costs the deadline and leaves no child") {
  Guard guard;
  guard.deadline = Seconds{0.1};
  const auto begin = std::chrono::steady_clock::now();
  const Json answer = guarded(
      []() -> Json {
        std::signal(SIGTERM, SIG_IGN);
        for (;;) pause();
      },
      guard);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(why(answer) == "NVML did not answer within 0.1 s; the driver may hang");
  CHECK(took.count() >= 0.1);
  CHECK(took.count() < 5.0);
  CHECK(childless());
}

TEST_CASE("a child that answers but does not end is late all the same") {
  Guard guard;
  guard.deadline = Seconds{0.1};
  // The answer's pipe is closed, and the process stays.
  const Json answer = guarded(
      []() -> Json {
        close(3);
        for (;;) pause();
      },
      guard);
  CHECK_THAT(why(answer), Contains("did not answer within"));
  CHECK(childless());
}

TEST_CASE("a crash, an exception and an early exit are distinguished") {
  CHECK_THAT(why(guarded([]() -> Json {
               raise(SIGKILL);
               return {};
             })),
             Contains("crashed") && Contains("Killed"));
  CHECK(why(guarded([]() -> Json { throw std::runtime_error("no such thing"); })) ==
        "no such thing");
  CHECK_THAT(why(guarded([]() -> Json { _exit(0); })), Contains("NVML's answer"));
  CHECK(childless());
}

TEST_CASE("an answer that never ends is cut off") {
  Guard guard;
  guard.most_bytes = 1000;
  const Json answer = guarded([] { return Json(std::string(100'000, 'x')); }, guard);
  CHECK(why(answer) == "NVML's answer is longer than 1000 bytes");
  CHECK(childless());
}

TEST_CASE("the child holds none of our files open") {
  const int file = fcntl(STDERR_FILENO, F_DUPFD, 10);
  REQUIRE(file >= 10);
  const Json answer = guarded([file] { return Json(fcntl(file, F_GETFD) == -1); });
  CHECK(answer == true);
  close(file);
}

}  // namespace
}  // namespace bench
