#include "runner/launch/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "core/proc_stat.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("create a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_nonblocking(const Descriptor& fd) {
  if (fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK) != 0)
    throw_errno("make a pipe non-blocking");
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (!command.env.contains(name) &&
        std::ranges::find(command.unset, name) == command.unset.end())
      result.push_back(text);
  }
  for (const auto& [name, value] : command.env) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct ChildSetup {
  const char* program;
  char* const* argv;
  char* const* envp;
  int input, output, error, report;
  pid_t parent;
};

/// Blocks signals while the child shares our memory: our handlers would run in it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t former_;
};

// Between vfork and exec: only system calls that do not change shared memory.
[[noreturn]] void become(const ChildSetup& setup) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != setup.parent) _exit(127);  // the parent died before prctl() took effect
  for (int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(setup.input, 0) >= 0 && dup2(setup.output, 1) >= 0 && dup2(setup.error, 2) >= 0)
    execve(setup.program, setup.argv, setup.envp);
  const int reason = errno;
  if (write(setup.report, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

/// The errno of a failed exec; 0 if the program runs (the pipe closed on exec).
int exec_failure(const Descriptor& report) {
  int reason = 0;
  ssize_t got;
  do got = read(report.get(), &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  return got == sizeof reason ? reason : 0;
}

bool executable(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

}  // namespace

void append(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
}

std::string Exit::text() const {
  if (!signaled) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  const char* meaning = sigdescr_np(code);
  return name == nullptr ? fmt::format("signal {}", code)
                         : fmt::format("SIG{} ({})", name, meaning == nullptr ? "?" : meaning);
}

void signal_session(pid_t leader, int signal) {
  kill(-leader, signal);
  for (const ProcStat& other : all_processes())
    if (other.session == leader && other.group != leader) kill(other.pid, signal);
}

std::string process_state(pid_t pid) {
  const auto stat = read_proc_stat(pid);
  if (!stat) return "gone";
  switch (stat->state) {
    case 'D':
      return "D (uninterruptible sleep)";
    case 'R':
      return "R (running)";
    case 'S':
      return "S (sleeping)";
    case 'T':
      return "T (stopped)";
    case 'Z':
      return "Z (zombie)";
    default:
      return std::string(1, stat->state);
  }
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    const bool there = fs::exists(fs::path(name));
    throw Error(ErrorKind::environment,
                name + (there ? ": is not an executable file" : ": not found"),
                there ? "check its permissions (chmod +x)" : "build it with scripts/build");
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (executable(candidate)) return candidate.string();
  }
  throw Error(ErrorKind::environment, "'" + name + "' is not in PATH",
              "install it, or add its folder to PATH");
}

void read_some(const Descriptor& fd, std::string& text, std::size_t most) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), bytes, sizeof bytes);
    if (got <= 0) return;
    if (text.size() < most) text.append(bytes, static_cast<std::size_t>(got));
  }
}

Process::Process(const Command& command, Signaller signaller) : signaller_(std::move(signaller)) {
  const std::string program = find_program(command.argv.at(0));
  std::vector<std::string> arguments = command.argv;
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe(), report = make_pipe();

  const ChildSetup setup{program.c_str(), argv.data(),     envp.data(),        in.read.get(),
                         out.write.get(), err.write.get(), report.write.get(), getpid()};
  {
    // vfork: fork would copy our page tables, which are large with thousands of hosts.
    const SignalsBlocked blocked;
    pid_ = vfork();
    if (pid_ == 0) become(setup);
  }
  if (pid_ < 0) throw_errno("start " + program);
  report.write.close();
  if (const int reason = exec_failure(report.read); reason != 0) {
    waitpid(pid_, nullptr, 0);
    errno = reason;
    throw_errno("start " + program, "check that it was built for this machine");
  }
  input = std::move(in.write);
  output = std::move(out.read);
  error = std::move(err.read);
  for (const Descriptor* fd : {&input, &output, &error}) make_nonblocking(*fd);
  end = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

Process::~Process() {
  if (reaped_) return;
  signaller_(pid_, SIGKILL);
  siginfo_t info{};
  for (int tries = 0; tries < 50 && !ended(); ++tries) usleep(2000);
  if (ended()) waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
}

bool Process::ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

void Process::signal(int number) const { signaller_(pid_, number); }

Exit Process::reap() {
  signal_session(pid_, SIGKILL);  // before the PID can be reused
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

}  // namespace bench
