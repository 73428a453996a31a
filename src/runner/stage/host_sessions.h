// Runs a command on many hosts at once, collects the output, and sends a payload to those that
// request it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/launch/interrupts.h"
#include "runner/launch/program_output.h"

namespace bench {

struct HostSession {
  std::string host;
  std::vector<std::string> argv;
  std::string output;   // the first 64 KiB
  std::string error;    // likewise
  std::string trouble;  // why it failed; "" on success
  /// The rest of each output line that starts with this word and a space.
  std::vector<std::string> lines_after(const std::string& word) const;
  /// Whether the output contains this line.
  bool has(const std::string& line) const;
};

/// sh -c SCRIPT NAME ARGUMENTS... The script's lines are joined, as a newline inside quotes would
/// end a csh command. Quoted if `shell`: ssh joins its arguments with spaces for a shell; srun
/// passes them unchanged.
std::vector<std::string> script_command(std::string script, const std::string& name,
                                        const std::vector<std::string>& arguments, bool shell);

/// `command`: makes the command line on the host, quoted or not.
HostSession session_on(const Place& place, const Reach& reach,
                       const std::function<std::vector<std::string>(bool shell)>& command);

/// Runs at most 32 at a time. `payload` is sent to each that prints a line "need". A session
/// without progress for `patience` is killed. An interrupt ends all.
void run_sessions(std::vector<HostSession>& hosts, std::string_view payload, Seconds patience,
                  const Interrupts& interrupts);

}  // namespace bench
