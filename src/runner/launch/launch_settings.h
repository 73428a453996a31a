// What a site says about starting ranks on its hosts: "mpirun" in a hosts file
// (schemas/hosts.json).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

struct LaunchSettings {
  std::vector<std::string> agent = {"ssh"};  // the program that reaches a host, and its words
  bool agent_options = true;                 // give ssh the time limits below
  int connect_timeout_s = 10;
  int keepalive_s = 5;
  int keepalive_count = 3;   // unanswered ones until a host counts as gone
  int start_timeout_s = 30;  // from the launch until the ranks have introduced themselves
  std::string interfaces;    // names or CIDR for MPI's TCP; "" leaves the choice to it
  std::map<std::string, std::string> mca;  // further MCA parameters
  std::map<std::string, std::string> env;  // of all ranks
  std::string rank_program;       // bench-rank on the hosts; "" is the path that it has here
  std::string cuda_rank_program;  // bench-rank-cuda likewise
  bool operator==(const LaunchSettings&) const = default;
};

/// `checked`: by the schema, which fills in defaults. Throws Error(input), beginning with `where`,
/// for what a schema cannot say: the names of MCA parameters and variables, the agent's first word.
LaunchSettings launch_settings_from_json(const Json& checked, const std::string& where);
Json to_json(const LaunchSettings& settings);

/// The agent as mpirun's plm_rsh_agent wants it: ssh gets BatchMode (nobody is there to answer) and
/// the time limits, unless agent_options is false. Host keys are checked as the user configured.
std::vector<std::string> agent_words(const LaunchSettings& settings);

}  // namespace bench
