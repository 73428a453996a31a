// Settings for starting ranks: "mpirun" in a hosts file (schemas/hosts.json).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct LaunchSettings {
  std::vector<std::string> agent = {"ssh"};  // remote shell command
  bool agent_options = true;                 // pass the timeouts below to ssh
  int connect_timeout_s = 10;
  int keepalive_s = 5;
  int keepalive_count = 3;                 // missed keepalives until a host is considered down
  int start_timeout_s = 30;                // from launch to the handshake
  std::string interfaces;                  // names or CIDR for MPI over TCP; "" for MPI's default
  std::map<std::string, std::string> mca;  // further MCA parameters
  std::map<std::string, std::string> env;  // of all ranks
  std::string rank_program;                // bench-rank on the hosts; "" for the local path
  std::string cuda_rank_program;           // bench-rank-cuda likewise
  bool operator==(const LaunchSettings&) const = default;
};

/// `checked`: validated by the schema, with defaults filled in. Throws Error(input), prefixed with
/// `where`, for invalid names of MCA parameters and variables, and for an agent that is an option.
LaunchSettings launch_settings_from_json(const Json& checked, const std::string& where);
Json to_json(const LaunchSettings& settings);

/// The remote shell command for mpirun's plm_rsh_agent. Adds BatchMode and timeouts for ssh unless
/// agent_options is false. Host keys are checked as the user configured.
std::vector<std::string> agent_command(const LaunchSettings& settings);

}  // namespace bench
