#include "probes/external/supervised.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/error.h"
#include "core/locations.h"
#include "probes/external/supervisor.h"

namespace bench::external {
namespace {

constexpr int kStartMs = 30'000;  // a loaded machine, a program on a slow file system

struct Ends {
  Descriptor read, write;
};

Ends make_ends() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_block(const Descriptor& fd) {
  if (fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) throw_errno("make a pipe non-blocking");
}

std::vector<char*> null_ended(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The given descriptors become 0, 1, 2, 3; no other of ours is passed on. Each is first moved out
/// of the way of those numbers.
pid_t spawn(std::vector<std::string> argv, std::vector<std::string> env,
            const std::array<int, 4>& fds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  std::vector<Descriptor> moved;
  for (const int fd : fds) moved.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 4));
  for (int i = 0; i < 4; ++i) posix_spawn_file_actions_adddup2(&actions, moved[i].get(), i);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  pid_t pid = -1;
  const int reason = posix_spawn(&pid, argv[0].c_str(), &actions, nullptr, null_ended(argv).data(),
                                 null_ended(env).data());
  posix_spawn_file_actions_destroy(&actions);
  errno = reason;
  if (reason != 0) throw_errno("start the supervisor " + argv[0], "check the bench-rank program");
  return pid;
}

std::vector<std::string> environment_texts(const std::map<std::string, std::string>& env) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : env) texts.push_back(name + "=" + value);
  return texts;
}

}  // namespace

std::string CommandEnd::text() const {
  if (!known) return "unknown exit status: its supervisor was killed";
  if (!signaled) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  const char* meaning = sigdescr_np(code);
  if (name == nullptr || meaning == nullptr) return fmt::format("signal {}", code);
  return fmt::format("SIG{} ({})", name, meaning);
}

std::string supervisor_program() { return (program_folder() / "bench-rank").string(); }

Supervised::Supervised(const ExternalCommand& command, const std::string& supervisor) {
  Ends owner = make_ends(), out = make_ends(), err = make_ends(), status = make_ends();
  std::vector<std::string> argv = {supervisor, kSuperviseOption,
                                   fmt::format("{}", command.grace.value), command.folder,
                                   std::to_string(command.cleanup.size())};
  argv.insert(argv.end(), command.cleanup.begin(), command.cleanup.end());
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  supervisor_ = spawn(std::move(argv), environment_texts(command.env),
                      {owner.read.get(), out.write.get(), err.write.get(), status.write.get()});
  owner_ = std::move(owner.write);
  output_ = std::move(out.read);
  error_ = std::move(err.read);
  status_ = std::move(status.read);
  status.write.close();
  for (const Descriptor* fd : {&output_, &error_, &status_}) do_not_block(*fd);

  while (command_ < 0 && !ended_ && failed_ == 0) {
    pollfd wait{status_.get(), POLLIN, 0};
    if (poll(&wait, 1, kStartMs) == 0) break;
    look();
  }
  if (command_ >= 0) return;
  owner_.close();
  kill(supervisor_, SIGKILL);  // it has started nothing
  waitpid(supervisor_, nullptr, 0);
  const std::string folder = command.folder.empty() ? "" : " in " + command.folder;
  errno = failed_;
  if (failed_ != 0)
    throw_errno("start " + command.argv[0] + folder, "check that the command runs on that host");
  throw Error(ErrorKind::environment, supervisor + " did not start " + command.argv[0],
              "check that `" + supervisor + " --version` works");
}

Supervised::~Supervised() {
  owner_.close();
  while (waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Supervised::stop() {
  if (ended_) return;
  asked_ = true;
  // A broken pipe means that the supervisor has ended, and with it all the rest.
  if (write(owner_.get(), "T", 1) < 0) return;
}

std::optional<CommandEnd> Supervised::look() {
  std::array<char, 256> bytes;
  for (;;) {
    const ssize_t got = read(status_.get(), bytes.data(), bytes.size());
    if (got > 0) unread_.append(bytes.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) ended_ = true;
    if (got <= 0) break;
  }
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
    take(std::string_view(unread_).substr(0, end));
    unread_.erase(0, end + 1);
  }
  if (!ended_) return {};
  return end_;
}

void Supervised::take(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view word = line.substr(0, blank);
  const int number = std::atoi(std::string(line.substr(blank + 1)).c_str());
  if (word == "started") command_ = number;
  if (word == "failed") failed_ = number;
  if (word == "exit" || word == "signal") {
    end_.known = true;
    end_.stopped = asked_;
    end_.signaled = word == "signal";
    end_.code = number;
  }
  if (word == "left") end_.left = number;
  if (word == "stuck") end_.stuck = number;
  if (word == "cleanup") end_.cleanup = number;
}

}  // namespace bench::external
