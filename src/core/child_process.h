// The one place that starts other programs: no shell is involved, and a child gets exactly the
// descriptors that it is given. How a child ended, and the pipes to it.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/descriptor.h"

namespace bench {

inline constexpr int kNullDevice = -1;

struct ChildOptions {
  std::vector<std::string> argv = {};                          // argv[0]: see find_program()
  std::optional<std::map<std::string, std::string>> env = {};  // all of it; nothing: ours
  std::string folder = {};                                     // "": ours
  /// Our descriptors, or kNullDevice, that become 0, 1, 2, ... of the child; all others are closed.
  std::vector<int> descriptors = {kNullDevice, STDOUT_FILENO, STDERR_FILENO};
  enum class Group { ours, own_group, own_session } group = Group::ours;
  int death_signal = 0;  // sent to the child when the thread that started it ends; 0: none
};

struct Child {
  pid_t pid = -1;
  int failure = 0;  // errno if the program could not be started; there is no child then
};

/// Starts a program with all signals unblocked and at their default action. Returns when it runs or
/// could not be started. Throws Error(environment) only if we are out of descriptors.
Child spawn(const ChildOptions& options);

/// The path of a program, looked up in the absolute folders of PATH if it contains no '/'. Throws
/// Error(environment) if it does not exist or is not executable.
std::string find_program(const std::string& name);

/// "" if not set.
std::string environment_variable(const char* name);
/// All our environment variables.
std::map<std::string, std::string> current_environment();

/// How a child ended.
struct Exit {
  bool signaled = false;
  int code = 0;  // exit code or signal number
  bool clean() const { return !signaled && code == 0; }
  /// "exit code 3", "SIGSEGV (Segmentation fault)".
  std::string text() const;
};

/// `status`: from waitpid().
Exit exit_from(int status);
/// Waits for a child of ours.
Exit wait_for(pid_t child);

struct Pipe {
  Descriptor read, write;
};

/// Both ends are closed on exec. Throws Error(environment).
Pipe make_pipe();
/// Throws Error(environment).
void make_nonblocking(const Descriptor& fd);

}  // namespace bench
