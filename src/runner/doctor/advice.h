// What stands between a host and good measurements, and the command that repairs each.
#pragma once

#include <string>
#include <vector>

#include "runner/doctor/host_state.h"

namespace bench {

enum class Need {
  none,     // as it should be
  note,     // measurements are possible, and say what this does to them
  repair,   // something cannot be measured, or not as it will run later
  unknown,  // the host did not say
};
const char* to_string(Need need);

/// Equal advice for several hosts is one entry.
struct Advice {
  std::string check;  // "MPI", "CPU quota"
  Need need = Need::none;
  std::string found;    // "mpirun is not in PATH"
  std::string why;      // what it costs; "" for Need::none
  std::string command;  // "" if there is none, or none is needed
  std::vector<std::string> hosts;
};

struct DoctorQuestion {
  std::string version;     // that all hosts should have, as bench-rank --version ends
  bool several = false;    // hosts, which must start ranks on each other
  std::string hosts_file;  // for commands; "" for this host alone
};

/// In the order of checks, repairs of a check before its notes.
std::vector<Advice> advice_for(const std::vector<HostState>& hosts, const DoctorQuestion& question);

/// The worst of all.
Need worst(const std::vector<Advice>& advice);

}  // namespace bench
