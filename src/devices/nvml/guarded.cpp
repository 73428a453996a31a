#include "devices/nvml/guarded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "core/descriptor.h"
#include "devices/facts/unreadable.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kDying{
    500};  // killed processes need less unless they are stuck

/// Keeps only `answer` open in the child, as descriptor 3: a child that cannot be killed must not
/// keep the pipes of records and log open.
void close_all_but(int answer) {
  if (dup2(answer, 3) < 0) _exit(1);
  const int nothing = open("/dev/null", O_RDWR);
  for (int standard = 0; standard < 3; ++standard) dup2(nothing, standard);
  const int most = static_cast<int>(sysconf(_SC_OPEN_MAX));
#ifdef CLOSE_RANGE_UNSHARE
  if (close_range(4, ~0u, 0) == 0) return;
#endif
  for (int file = 4; file < std::min(most, 65536); ++file) close(file);
}

[[noreturn]] void be_the_child(const std::function<Json()>& ask, int answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGABRT}) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  close_all_but(answer);
  Json json;
  try {
    json = ask();
  } catch (const std::exception& error) {
    json = unreadable(error.what());
  }
  write_all(3, dump(json));  // fails if the parent has stopped listening
  _exit(0);                  // skips exit handlers of the parent
}

enum class Heard { all, late, too_much };

Heard listen(int file, const Guard& guard, Clock::time_point until, std::string& text) {
  std::array<char, 65536> buffer;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Heard::late;
    pollfd wait{file, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left)) <= 0) continue;  // late, or a signal
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::all;
    if (text.size() + static_cast<std::size_t>(got) > guard.most_bytes) return Heard::too_much;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// The exit status of the child; nothing if it was still running at `until`.
std::optional<int> await_end(pid_t child, Clock::time_point until) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return 0;  // reaped elsewhere
    if (Clock::now() >= until) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Kills the child; a detached thread waits for one that survives SIGKILL.
bool end(pid_t child) {
  kill(child, SIGKILL);
  if (await_end(child, Clock::now() + kDying)) return true;
  std::thread([child] { waitpid(child, nullptr, 0); }).detach();
  return false;
}

Json late(pid_t child, const Guard& guard) {
  const std::string text = fmt::format("{} did not answer within {:g} s; the driver may hang",
                                       guard.whom, guard.deadline.value);
  return unreadable(end(child) ? text : text + "; the process that called it cannot be killed");
}

Json understand(const std::string& text, int status, const Guard& guard) {
  if (WIFSIGNALED(status))
    return unreadable(fmt::format("{} crashed the process that called it: {}", guard.whom,
                                  strsignal(WTERMSIG(status))));
  try {
    return parse_json(text, guard.whom + "'s answer");
  } catch (const std::exception& error) {
    return unreadable(error.what());
  }
}

}  // namespace

Json guarded(const std::function<Json()>& ask, const Guard& guard) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return unreadable(fmt::format("cannot create a pipe: {}", strerror(errno)));
  const auto until = Clock::now() + std::chrono::microseconds(
                                        static_cast<std::int64_t>(guard.deadline.value * 1e6));
  const pid_t child = fork();
  if (child == 0) be_the_child(ask, ends[1]);
  const int why = errno;
  close(ends[1]);
  std::string text;
  const Heard heard = child < 0 ? Heard::all : listen(ends[0], guard, until, text);
  close(ends[0]);
  if (child < 0) return unreadable(fmt::format("cannot fork: {}", strerror(why)));
  if (heard == Heard::late) return late(child, guard);
  if (heard == Heard::too_much) {
    end(child);
    return unreadable(
        fmt::format("{}'s answer is longer than {} bytes", guard.whom, guard.most_bytes));
  }
  const auto status = await_end(child, until);
  return status ? understand(text, *status, guard) : late(child, guard);
}

}  // namespace bench
