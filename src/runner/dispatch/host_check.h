// Checks which hosts of a failed job are still up: no launcher's exit code or message distinguishes
// a dead host from a broken program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/hosts/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

struct HostAnswer {
  std::string host;
  std::string trouble;  // why it is excluded, e.g. "does not answer: ssh: ..."; "" if healthy
  std::string swept;    // leftover processes that were killed; "" for none
};

/// The troubles of hosts, those of hosts with the same one together: "node01 has a stuck process:
/// ...; node[02-33] (32 of 33 hosts) does not answer: ...". "" if there is none.
std::string troubles_text(const std::vector<HostAnswer>& answers);

/// The command that finds and kills every process with the run's token, and lists them. `program`
/// is bench-rank on that host.
std::vector<std::string> sweep_command(const std::string& program, const std::string& token);

using HostCheck = std::function<std::vector<HostAnswer>(
    const std::vector<Place>& places, const LaunchSettings& settings, const std::string& program,
    const std::string& token)>;

/// Checks all hosts at once through the remote shell agent, within the connect timeout and some
/// seconds. This host is checked without an agent.
std::vector<HostAnswer> answering_hosts(const std::vector<Place>& places,
                                        const LaunchSettings& settings, const std::string& program,
                                        const std::string& token);

/// Checks hosts through steps of the allocation.
HostCheck check_through(const SlurmSite& site);

/// The process states of a hung job's ranks, per host, before they are killed: "node01: 1 running;
/// node02: 1 stopped".
using RankStateQuery =
    std::function<std::string(const std::vector<Place>& places, const LaunchSettings& settings,
                              const std::string& program, const std::string& token)>;

std::string query_rank_states(const std::vector<Place>& places, const LaunchSettings& settings,
                              const std::string& program, const std::string& token);
RankStateQuery query_rank_states_through(const SlurmSite& site);

}  // namespace bench
