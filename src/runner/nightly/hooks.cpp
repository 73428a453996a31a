#include "runner/nightly/hooks.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr std::size_t kTalkKept = 4000;

/// A hook may exit without reading its input: ignore SIGPIPE.
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
  const ssize_t written = write(input.get(), text.data(), text.size());
  if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  if (text.empty() || (written < 0 && errno != EAGAIN && errno != EINTR)) input.close();
}

std::string run_hook(const std::string& program, const std::string& json, Seconds patience) {
  const SigpipeIgnored ignored;
  Process process({{program}, {}});
  std::string_view left = json;
  std::string out, talk;
  const auto end = after(patience);
  while (!process.ended() && Clock::now() < end) {
    // Do not poll its output pipes: at end of file they are always readable.
    std::array<pollfd, 2> fds = {pollfd{process.input.get(), POLLOUT, 0},
                                 pollfd{process.end.get(), POLLIN, 0}};
    poll(fds.data(), fds.size(), 20);
    if (process.input.valid()) feed(process.input, left);
    read_some(process.output, out, kTalkKept);
    read_some(process.error, talk, kTalkKept);
  }
  if (!process.ended()) return "timed out after " + format(patience) + " and was killed";
  read_some(process.error, talk, kTalkKept);
  const Exit exit = process.reap();
  return exit.clean() ? "" : exit.text() + (talk.empty() ? "" : ": " + last_line(talk));
}

}  // namespace

void check_hooks(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) find_program(program);
}

std::vector<HookCall> call_hooks(const std::vector<std::string>& programs,
                                 const std::vector<NightFinding>& findings, Seconds patience) {
  std::vector<HookCall> calls;
  for (const NightFinding& finding : findings) {
    if (finding.state == SuspicionState::dropped) continue;
    for (const std::string& program : programs) {
      HookCall call{program, finding.host};
      try {
        call.trouble = run_hook(program, dump(to_json(finding)) + "\n", patience);
      } catch (const Error& error) {
        call.trouble = error.what();
      }
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

}  // namespace bench
