#include "core/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/error.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

struct ChildSetup {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* folder;
  const int* descriptors;  // all above `count`
  int count;
  int report;  // above `count`
  ChildOptions::Group group;
  int death_signal;
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

/// The signals are unblocked last: until then a handler of ours could run in our memory.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool install_descriptors(const ChildSetup& setup) {
  for (int i = 0; i < setup.count; ++i)
    if (dup2(setup.descriptors[i], i) < 0) return false;
  closefrom(setup.count + 1);
  return true;
}

// Between vfork and exec: only system calls that do not change shared memory.
[[noreturn]] void become(const ChildSetup& setup) {
  if (setup.group == ChildOptions::Group::own_session) setsid();
  if (setup.group == ChildOptions::Group::own_group) setpgid(0, 0);
  if (setup.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, setup.death_signal);
    if (getppid() != setup.parent) _exit(127);  // the parent died before prctl() took effect
  }
  reset_signals();
  // The report moves to the first number after the child's own descriptors.
  if (dup3(setup.report, setup.count, O_CLOEXEC) < 0) _exit(126);
  if (install_descriptors(setup) && (*setup.folder == '\0' || chdir(setup.folder) == 0))
    execve(setup.program, setup.argv, setup.envp);
  const int reason = errno;
  if (write(setup.count, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

/// The errno with which the child failed before it ran the program; 0 if the program runs (the pipe
/// closed on exec).
int reported_failure(const Descriptor& report) {
  int reason = 0;
  ssize_t got;
  do got = read(report.get(), &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  return got == sizeof reason ? reason : 0;
}

std::vector<char*> null_terminated(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// A duplicate with a number of at least `least`.
Descriptor moved(int fd, int least) {
  Descriptor null;
  if (fd == kNullDevice) {
    null = Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC));
    fd = null.get();
  }
  Descriptor result(fcntl(fd, F_DUPFD_CLOEXEC, least));
  if (!result.valid()) throw_errno("duplicate a descriptor for a child process");
  return result;
}

bool executable(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// The name itself if it contains a '/'; "" if it is not in PATH. Folders of PATH that are empty or
/// relative are passed over: they are the current folder, where another user may have put a
/// program. A file that is not executable is returned only if there is no other, for the kernel's
/// reason.
std::string search(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  std::string refused;
  std::error_code none;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with('/')) continue;
    const fs::path candidate = fs::path(folder) / name;
    if (executable(candidate)) return candidate.string();
    if (refused.empty() && fs::exists(candidate, none)) refused = candidate.string();
  }
  return refused;
}

}  // namespace

Child spawn(const ChildOptions& options) {
  const std::string program = search(options.argv.at(0));
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment;
  if (options.env)
    for (const auto& [name, value] : *options.env) environment.push_back(name + "=" + value);
  const std::vector<char*> argv = null_terminated(arguments);
  const std::vector<char*> envp = null_terminated(environment);

  const int count = static_cast<int>(options.descriptors.size());
  std::vector<Descriptor> owners;
  std::vector<int> descriptors;
  for (const int fd : options.descriptors) {
    owners.push_back(moved(fd, count + 1));
    descriptors.push_back(owners.back().get());
  }
  Pipe pipe = make_pipe();
  Descriptor report = moved(pipe.write.get(), count + 1);
  pipe.write.close();

  const ChildSetup setup{program.c_str(),
                         argv.data(),
                         options.env ? envp.data() : environ,
                         options.folder.c_str(),
                         descriptors.data(),
                         count,
                         report.get(),
                         options.group,
                         options.death_signal,
                         getpid()};
  pid_t pid;
  {
    // vfork: fork would copy our page tables, which are large with thousands of hosts.
    const SignalsBlocked blocked;
    pid = vfork();
    if (pid == 0) become(setup);
  }
  if (pid < 0) return {-1, errno};
  report.close();
  const int failure = reported_failure(pipe.read);
  if (failure == 0) return {pid, 0};
  wait_for(pid);
  return {-1, failure};
}

std::string find_program(const std::string& name) {
  const std::string path = search(name);
  if (path.empty())
    throw Error(ErrorKind::environment, "'" + name + "' is not in PATH",
                "install it, or add its folder to PATH");
  if (executable(path)) return path;
  const bool there = fs::exists(fs::path(path));
  throw Error(ErrorKind::environment,
              path + (there ? ": is not an executable file" : ": not found"),
              there ? "check its permissions (chmod +x)" : "build it with scripts/build");
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return env;
}

std::string Exit::text() const {
  if (!signaled) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  const char* meaning = sigdescr_np(code);
  if (name == nullptr || meaning == nullptr) return fmt::format("signal {}", code);
  return fmt::format("SIG{} ({})", name, meaning);
}

Exit exit_from(int status) {
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

Exit wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_from(status);
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("create a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_nonblocking(const Descriptor& fd) {
  if (fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK) != 0)
    throw_errno("make a pipe non-blocking");
}

}  // namespace bench
