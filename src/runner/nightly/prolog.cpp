#include "runner/nightly/prolog.h"

#include <poll.h>
#include <signal.h>

#include "core/text.h"
#include "runner/launch/process.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr double kGraceShare = 0.1;  // of the limit, between SIGTERM and SIGKILL

void listen(const Process& process, PrologAnswer& answer) {
  read_some(process.output, answer.out, kMostText);
  read_some(process.error, answer.err, kMostText);
}

void wait_until(const Process& process, Clock::time_point end, PrologAnswer& answer) {
  while (!process.ended() && Clock::now() < end) {
    pollfd ended{process.end.get(), POLLIN, 0};
    poll(&ended, 1, 20);
    listen(process, answer);
  }
}

}  // namespace

PrologAnswer run_prolog(const std::vector<std::string>& command, Seconds limit) try {
  const auto end = after(limit);
  PrologAnswer answer;
  Process process({command, {}});
  process.input.close();
  wait_until(process, after(limit * (1.0 - kGraceShare)), answer);
  const bool in_time = process.ended();
  if (!in_time) {
    process.signal(SIGTERM);
    wait_until(process, end, answer);
  }
  listen(process, answer);
  if (!process.ended()) {  // the destructor kills it and its children
    answer.why = "timed out after " + format(limit) + " and was killed";
    return answer;
  }
  const Exit exit = process.reap();
  if (in_time && !exit.signaled && exit.code == static_cast<int>(ExitCode::failed))
    answer.code = ExitCode::failed;
  else if (!in_time)
    answer.why = "was terminated after " + format(limit * (1.0 - kGraceShare));
  else if (!exit.clean())
    answer.why = "exited with " + exit.text();
  return answer;
} catch (const Error& error) {
  return {ExitCode::ok, "", "", error.what()};
}

}  // namespace bench
