#include "probes/external/supervised.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/child_process.h"
#include "core/error.h"
#include "core/locations.h"
#include "probes/external/supervisor.h"

namespace bench::external {
namespace {

constexpr int kStartMs = 30'000;  // a loaded machine, a program on a slow file system

}  // namespace

std::string CommandEnd::text() const {
  if (!known) return "unknown exit status: its supervisor was killed";
  return Exit{signaled, code}.text();
}

std::string supervisor_program() { return (program_folder() / "bench-rank").string(); }

Supervised::Supervised(const ExternalCommand& command, const std::string& supervisor) {
  Pipe owner = make_pipe(), out = make_pipe(), err = make_pipe(), status = make_pipe();
  std::vector<std::string> argv = {supervisor, kSuperviseOption,
                                   fmt::format("{}", command.grace.value), command.folder,
                                   std::to_string(command.cleanup.size())};
  argv.insert(argv.end(), command.cleanup.begin(), command.cleanup.end());
  argv.insert(argv.end(), command.argv.begin(), command.argv.end());
  const Child child = spawn(
      {.argv = std::move(argv),
       .env = command.env,
       .descriptors = {owner.read.get(), out.write.get(), err.write.get(), status.write.get()}});
  if (child.failure != 0) {
    errno = child.failure;
    throw_errno("start the supervisor " + supervisor, "check the bench-rank program");
  }
  supervisor_ = child.pid;
  owner_ = std::move(owner.write);
  output_ = std::move(out.read);
  error_ = std::move(err.read);
  status_ = std::move(status.read);
  status.write.close();
  for (const Descriptor* fd : {&output_, &error_, &status_}) make_nonblocking(*fd);

  while (command_ < 0 && !ended_ && failed_ == 0) {
    pollfd wait{status_.get(), POLLIN, 0};
    if (poll(&wait, 1, kStartMs) == 0) break;
    look();
  }
  if (command_ >= 0) return;
  owner_.close();
  kill(supervisor_, SIGKILL);  // it has started nothing
  wait_for(supervisor_);
  const std::string folder = command.folder.empty() ? "" : " in " + command.folder;
  errno = failed_;
  if (failed_ != 0)
    throw_errno("start " + command.argv[0] + folder, "check that the command runs on that host");
  throw Error(ErrorKind::environment, supervisor + " did not start " + command.argv[0],
              "check that `" + supervisor + " --version` works");
}

Supervised::~Supervised() {
  owner_.close();
  wait_for(supervisor_);
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
