#include "probes/external/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "core/proc_stat.h"

namespace bench::external {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOwner = 0;
constexpr int kStatus = 3;
constexpr int kLookEveryMs = 50;
constexpr std::chrono::seconds kAfterKill{10};  // a process may be in uninterruptible sleep

void report(const std::string& word, int number) {
  const std::string line = word + " " + std::to_string(number) + "\n";
  // The owner may be gone.
  if (write(kStatus, line.data(), line.size()) < 0) return;
}

/// Orphaned descendants become our children.
std::vector<pid_t> descendants() { return living_descendants(getpid()); }

/// With our stdout and stderr.
Child start(std::vector<std::string> command) {
  return spawn({.argv = std::move(command), .group = ChildOptions::Group::own_group});
}

class Supervisor {
 public:
  Supervisor(pid_t command, std::chrono::duration<double> grace, int signals)
      : command_(command), grace_(grace), signals_(signals) {}

  void run() {
    while (!stuck_) {
      const bool ended_by_itself = reap() && !stopping_;
      if (!running_) stop();
      if (stopping_) {
        const std::vector<pid_t> alive = descendants();
        if (ended_by_itself) left_ = static_cast<int>(alive.size());
        if (!running_ && alive.empty()) break;
        push(alive);
      }
      wait();
    }
    stuck_ ? report("stuck", static_cast<int>(descendants().size())) : report("left", left_);
  }

 private:
  /// Whether the command has ended just now.
  bool reap() {
    const bool ran = running_;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != command_) continue;
      running_ = false;
      const Exit exit = exit_from(status);
      report(exit.signaled ? "signal" : "exit", exit.code);
    }
    return ran && !running_;
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    asked_ = Clock::now();
  }

  /// SIGTERM once to each; after the grace SIGKILL repeatedly, as new ones may have started.
  void push(const std::vector<pid_t>& alive) {
    const auto since = Clock::now() - asked_;
    const bool kill_now = since >= grace_;
    for (const pid_t pid : alive)
      if (kill_now || warned_.insert(pid).second) kill(pid, kill_now ? SIGKILL : SIGTERM);
    // A stopped process receives SIGTERM only after SIGCONT.
    for (const pid_t pid : alive)
      if (!kill_now) kill(pid, SIGCONT);
    stuck_ = since >= grace_ + kAfterKill;
  }

  void wait() {
    pollfd fds[] = {{owner_gone_ ? -1 : kOwner, POLLIN, 0}, {signals_, POLLIN, 0}};
    poll(fds, 2, stopping_ ? kLookEveryMs : -1);
    signalfd_siginfo signal;
    bool asked = false;
    while (read(signals_, &signal, sizeof signal) == sizeof signal)
      asked |= signal.ssi_signo != SIGCHLD;
    if (fds[0].revents != 0) {
      char byte;
      const ssize_t got = read(kOwner, &byte, 1);
      asked = true;
      owner_gone_ = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
    }
    if (asked) stop();
  }

  pid_t command_;
  std::chrono::duration<double> grace_;
  int signals_;
  bool running_ = true;
  bool stopping_ = false;
  bool stuck_ = false;
  bool owner_gone_ = false;
  Clock::time_point asked_;
  std::set<pid_t> warned_;
  int left_ = 0;  // processes left behind by a command that ended by itself
};

/// These signals are read from a signalfd, so none ends us.
int take_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&taken, number);
  sigprocmask(SIG_SETMASK, &taken, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// The command's output must end with its last process, not with us.
void release_output() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
}

/// The command's exit code; 127: not started; 128 and more: ended by a signal or the time limit.
int clean_up(std::vector<std::string> words) {
  const auto [command, failure] = start(std::move(words));
  if (failure != 0) return 127;
  const auto deadline = Clock::now() + std::chrono::seconds(kCleanupSeconds);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(command, &status, WNOHANG);
    if (ended == command) break;
    if (ended < 0) return 128;
    if (Clock::now() >= deadline) kill(-command, SIGKILL);
    poll(nullptr, 0, kLookEveryMs);
  }
  const Exit exit = exit_from(status);
  return exit.signaled ? 128 + exit.code : exit.code;
}

}  // namespace

int supervise(int argc, char** argv) {
  constexpr int kUsage = 2;
  const int cleanup = argc > 2 ? std::atoi(argv[2]) : -1;
  if (cleanup < 0 || cleanup > argc - 4 || fcntl(kStatus, F_GETFD) < 0) return kUsage;
  setsid();
  const int signals = take_signals();
  int reason = signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ? errno : 0;
  const std::string folder = argv[1];
  if (reason == 0 && !folder.empty() && chdir(folder.c_str()) != 0) reason = errno;
  Child command;
  if (reason == 0) {
    command = start({argv + 3 + cleanup, argv + argc});
    reason = command.failure;
  }
  if (reason != 0) {
    report("failed", reason);
    return 1;
  }
  release_output();
  report("started", command.pid);
  Supervisor(command.pid, std::chrono::duration<double>(std::atof(argv[0])), signals).run();
  if (cleanup > 0) report("cleanup", clean_up({argv + 3, argv + 3 + cleanup}));
  return 0;
}

}  // namespace bench::external
