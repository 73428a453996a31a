// A child process with pipes, alone in a session of its own, so that everything it starts can be
// found and ended. No shell is involved, and no descriptor of ours leaks into it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"

namespace bench {

struct Command {
  std::vector<std::string> argv;           // argv[0]: a path, or a name that is looked up in PATH
  std::map<std::string, std::string> env;  // set on top of our own environment
  std::vector<std::string> unset = {};     // of our environment, where env does not set it
};

/// Adds words to those of a command.
void append(std::vector<std::string>& argv, std::initializer_list<std::string> words);

/// How a child ended.
struct Exit {
  bool signaled = false;
  int code = 0;  // the exit code, or the signal's number
  bool clean() const { return !signaled && code == 0; }
  /// "exit code 3", "SIGSEGV (Segmentation fault)".
  std::string text() const;
};

/// Sends a signal to a session, given by its leader. Replaceable, so that a test can play a process
/// that does not end.
using Signaller = std::function<void(pid_t leader, int signal)>;

/// The process group of the leader and every other process of its session: mpirun gives each rank a
/// process group of its own.
void signal_session(pid_t leader, int signal);

/// The state letter of /proc/PID/stat with its meaning, e.g. "D (uninterruptible sleep)".
std::string process_state(pid_t pid);

/// Finds a program as execvp would. Throws Error(environment) naming what is wrong with it.
std::string find_program(const std::string& name);

/// Adds what has come so far from a non-blocking descriptor; what is past `most` is lost.
void read_some(const Descriptor& fd, std::string& text, std::size_t most);

class Process {
 public:
  /// Throws Error(environment) when the program is missing or cannot be started. The child gets
  /// SIGTERM when we die.
  explicit Process(const Command& command, Signaller signaller = signal_session);
  /// Kills what is left of the session; does not wait for what does not end.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Our ends of the pipes; all non-blocking.
  Descriptor input;
  Descriptor output;
  Descriptor error;
  /// Readable when the child has ended; invalid on kernels without pidfd.
  Descriptor end;

  /// Has the child ended? It stays a zombie, so that its number is not given away, until reap().
  bool ended() const;
  void signal(int number) const;
  /// After ended(): kills what the child left behind, collects its exit.
  Exit reap();

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
  Signaller signaller_;
};

}  // namespace bench
