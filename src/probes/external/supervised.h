// An external command under a supervisor, seen by its owner: two pipes to read, one end to wait
// for, and one call that stops all its processes.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"

namespace bench::external {

struct ExternalCommand {
  std::vector<std::string> argv;           // argv[0]: a path, or a name in PATH
  std::string folder = {};                 // working folder; "": ours
  std::map<std::string, std::string> env;  // all of it
  Seconds grace = {10.0};                  // between SIGTERM and SIGKILL
  std::vector<std::string> cleanup = {};   // run after all its processes, also if we are killed
};

/// How a command ended.
struct CommandEnd {
  bool known = false;  // false: the supervisor itself was killed
  bool signaled = false;
  int code = 0;          // the exit code, or the signal's number
  bool stopped = false;  // we had asked it to stop
  int left = 0;          // processes it left behind, ended since
  int stuck = 0;         // processes that no signal ended
  int cleanup = 0;       // exit code of the cleanup command
  bool clean() const { return known && !signaled && code == 0; }
  /// "exit code 3", "SIGSEGV (Segmentation fault)".
  std::string text() const;
};

class Supervised {
 public:
  /// Throws Error(environment) with the kernel's reason if the command cannot be started.
  /// `supervisor`: the program that supervises when called with kSuperviseOption.
  Supervised(const ExternalCommand& command, const std::string& supervisor);
  /// Stops what still runs and waits for it.
  ~Supervised();
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;

  /// Non-blocking. They may stay open after the end if a process is stuck.
  const Descriptor& output() const { return output_; }
  const Descriptor& error() const { return error_; }
  /// Readable when there is something for look().
  const Descriptor& status() const { return status_; }

  pid_t command() const { return command_; }
  /// Reads the supervisor's reports. Empty while any process of the command is alive.
  std::optional<CommandEnd> look();
  /// SIGTERM to all its processes, SIGKILL after the grace. Returns at once.
  void stop();

 private:
  void take(std::string_view line);

  Descriptor owner_, output_, error_, status_;
  pid_t supervisor_ = -1;
  pid_t command_ = -1;
  int failed_ = 0;
  std::string unread_;
  CommandEnd end_;
  bool ended_ = false;
  bool asked_ = false;  // to stop
};

/// bench-rank next to the running program, which may be a rank itself.
std::string supervisor_program();

}  // namespace bench::external
