// What one host says of itself to `benchctl doctor`: a shell script that changes nothing prints a
// line for each fact, on this host and, through the remote shell, on others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/hosts/inventory.h"
#include "runner/launch/interrupts.h"
#include "runner/launch/program_output.h"
#include "runner/stage/host_sessions.h"

namespace bench {

struct BusyProcess {
  double cpus = 0.0;  // CPUs that it used for a second
  std::string pid;
  std::string name;
};

/// Absent: the host did not say.
struct HostState {
  std::string host;
  std::string trouble;  // why it did not answer; "" if it did
  bool here = false;
  std::map<std::string, std::string> facts;  // by the names in the script, printable
  std::vector<BusyProcess> busy;
  double asked_s = 0.0, answered_s = 0.0;  // by the clock of the host that asked

  /// "" if it did not say.
  std::string fact(const std::string& name) const;
  std::optional<double> number(const std::string& name) const;
};

/// See script_command(). `program`: bench-rank on the host.
std::vector<std::string> doctor_command(const std::string& program, bool shell);

/// CPUs, of "MICROSECONDS PERIOD GROUP" as the script prints a cgroup's cpu.max.
std::optional<double> quota_of(const std::string& text);

/// What a host printed; it is untrusted. Unknown lines are ignored.
HostState state_from(const HostSession& answer);

/// Asks all hosts at once, and looks there for `program`, or by default for the bench-rank that a
/// run would start. Throws Error(interrupted).
std::vector<HostState> ask_hosts(const Inventory& inventory, const Interrupts& interrupts,
                                 const std::string& program = {});

}  // namespace bench
