#include "probes/server/sweep.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/job.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// `sleep 60` with this mark in its environment, ended when the test is over.
class Sleeper {
 public:
  explicit Sleeper(const std::string& token) : mark_(std::string(kRunVariable) + "=" + token) {
    int report[2];
    REQUIRE(pipe2(report, O_CLOEXEC) == 0);
    char program[] = "sleep", time[] = "60";
    char* const argv[] = {program, time, nullptr};
    char* const envp[] = {mark_.data(), nullptr};
    pid_ = fork();
    if (pid_ == 0) {
      execve("/bin/sleep", argv, envp);
      _exit(127);
    }
    close(report[1]);
    char byte;
    REQUIRE(::read(report[0], &byte, 1) == 0);  // closed by exec: it is a sleeper now
    close(report[0]);
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }
  bool killed() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_ && info.si_status == SIGKILL;
  }

 private:
  std::string mark_;
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("processes left by a run are found by their mark, killed and listed") {
  const Sleeper ours("run-sweep-1");
  const std::string told = sweep("run-sweep-1");
  CHECK(told.find("sleep " + std::to_string(ours.pid())) != std::string::npos);
  CHECK(ours.killed());
  CHECK(told.find("cannot be killed") == std::string::npos);
}

TEST_CASE("processes of other runs are not killed, even if their mark begins the same") {
  const Sleeper other("run-sweep-22");
  CHECK(sweep("run-sweep-2").empty());
  CHECK_FALSE(other.killed());
}

TEST_CASE("a host with an unwritable temporary folder is reported") {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/proc", 1);
  const std::string told = sweep("run-sweep-5");
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  CHECK(told.starts_with("cannot write to /proc: "));
  CHECK(sweep("run-sweep-5").empty());
}

TEST_CASE("the states of a run's ranks are reported") {
  const Sleeper ours("run-sweep-6"), other("run-sweep-7");
  // It runs until it first sleeps, which takes longer alongside other work.
  for (int i = 0; i < 100'000 && rank_states("run-sweep-6") == "1 running"; ++i) sched_yield();
  CHECK(rank_states("run-sweep-6") == "1 sleeping");
  kill(ours.pid(), SIGSTOP);
  int status = 0;
  waitpid(ours.pid(), &status, WUNTRACED);
  CHECK(rank_states("run-sweep-6") == "1 stopped");
  CHECK(rank_states("run-sweep-8") == "none");
}

}  // namespace bench
