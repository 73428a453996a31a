#include "runner/launch/interrupts.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
// A rank may die with a job line in its pipe, and a file may reach its size limit: write() then
// fails instead of killing this process.
constexpr std::array kIgnored = {SIGPIPE, SIGXFSZ};

// A signal handler can only use globals.
std::atomic<int> arrived{0};
int pipe_ends[2] = {-1, -1};
std::array<struct sigaction, kSignals.size()> former;
std::array<struct sigaction, kIgnored.size()> former_ignored;

extern "C" void on_signal(int) {
  const int saved = errno;
  arrived.fetch_add(1);
  const char byte = 1;
  if (write(pipe_ends[1], &byte, 1) < 0) errno = saved;  // full: poll() wakes anyway
  errno = saved;
}

}  // namespace

Interrupts::Interrupts() {
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("create the signal pipe");
  arrived = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &former[i]);
  action.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < kIgnored.size(); ++i)
    sigaction(kIgnored[i], &action, &former_ignored[i]);
}

Interrupts::~Interrupts() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former[i], nullptr);
  for (std::size_t i = 0; i < kIgnored.size(); ++i)
    sigaction(kIgnored[i], &former_ignored[i], nullptr);
  for (int& end : pipe_ends) {
    close(end);
    end = -1;
  }
}

int Interrupts::fd() const { return pipe_ends[0]; }

void Interrupts::raise() const { on_signal(0); }

int Interrupts::count() const { return arrived.load(); }

}  // namespace bench
