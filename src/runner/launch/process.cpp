#include "runner/launch/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "core/error.h"
#include "core/proc_stat.h"

namespace bench {
namespace {

/// A child may exit without reading its input.
class SigpipeIgnored {
 public:
  SigpipeIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &former_);
  }
  ~SigpipeIgnored() { sigaction(SIGPIPE, &former_, nullptr); }
  SigpipeIgnored(const SigpipeIgnored&) = delete;
  SigpipeIgnored& operator=(const SigpipeIgnored&) = delete;

 private:
  struct sigaction former_ {};
};

/// Writes what the pipe takes now; closes it when done or unread.
void feed(Descriptor& input, std::string_view& text) {
  if (!input.valid()) return;
  const ssize_t written = text.empty() ? 0 : write(input.get(), text.data(), text.size());
  if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  if (text.empty() || (written < 0 && errno != EAGAIN && errno != EINTR)) input.close();
}

std::map<std::string, std::string> environment_of(const Command& command) {
  std::map<std::string, std::string> env = current_environment();
  for (const std::string& name : command.unset) env.erase(name);
  for (const auto& [name, value] : command.env) env[name] = value;
  return env;
}

}  // namespace

void append(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
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
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  const Child child = spawn({.argv = command.argv,
                             .env = environment_of(command),
                             .descriptors = {in.read.get(), out.write.get(), err.write.get()},
                             .group = ChildOptions::Group::own_session,
                             .death_signal = SIGTERM});
  if (child.failure != 0) {
    errno = child.failure;
    throw_errno("start " + program, "check that it was built for this machine");
  }
  pid_ = child.pid;
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
  const Exit exit = wait_for(pid_);
  reaped_ = true;
  return exit;
}

bool run_until(Process& process, std::chrono::steady_clock::time_point end, std::size_t most,
               Printed& printed, std::string_view input) {
  const SigpipeIgnored ignored;
  const auto listen = [&] {
    read_some(process.output, printed.output, most);
    read_some(process.error, printed.error, most);
  };
  while (!process.ended() && std::chrono::steady_clock::now() < end) {
    feed(process.input, input);
    // Do not poll its output pipes: at end of file they are always readable.
    std::array<pollfd, 2> fds = {pollfd{process.input.get(), POLLOUT, 0},
                                 pollfd{process.end.get(), POLLIN, 0}};
    poll(fds.data(), fds.size(), 20);
    listen();
  }
  listen();
  return process.ended();
}

}  // namespace bench
