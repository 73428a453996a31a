// A child process with pipes, in its own session, so that all its descendants can be found and
// killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/child_process.h"

namespace bench {

struct Command {
  std::vector<std::string> argv;           // argv[0]: a path, or a name in PATH
  std::map<std::string, std::string> env;  // added to our environment
  std::vector<std::string> unset = {};     // removed from our environment
};

/// Appends arguments to a command.
void append(std::vector<std::string>& argv, std::initializer_list<std::string> words);

/// Sends a signal to a session, given by its leader. Replaceable for tests of processes that do not
/// end.
using Signaller = std::function<void(pid_t leader, int signal)>;

/// Signals all processes of the session: mpirun gives each rank its own process group.
void signal_session(pid_t leader, int signal);

/// The state letter of /proc/PID/stat with its meaning, e.g. "D (uninterruptible sleep)".
std::string process_state(pid_t pid);

/// Appends available data of a non-blocking descriptor; drops data beyond `most`.
void read_some(const Descriptor& fd, std::string& text, std::size_t most);

class Process {
 public:
  /// Throws Error(environment) if the program is missing or cannot be started. The child gets
  /// SIGTERM if this process dies.
  explicit Process(const Command& command, Signaller signaller = signal_session);
  /// Kills the rest of the session; does not wait for processes that do not end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Our ends of the pipes, all non-blocking.
  Descriptor input;
  Descriptor output;
  Descriptor error;
  /// Readable after the child has ended; invalid on kernels without pidfd.
  Descriptor end;

  /// Whether the child has ended. It stays a zombie until reap(), so that its PID is not reused.
  bool ended() const;
  void signal(int number) const;
  /// After ended(): kills leftover processes and collects the exit status.
  Exit reap();

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  Signaller signaller_;
};

/// What a child has printed, as far as it is kept.
struct Printed {
  std::string output, error;
};

/// Feeds a child `input`, then the end of its input, and keeps at most about `most` bytes of each
/// output. False if it has not ended by `end`.
bool run_until(Process& process, std::chrono::steady_clock::time_point end, std::size_t most,
               Printed& printed, std::string_view input = {});

}  // namespace bench
