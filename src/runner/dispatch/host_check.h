// Who of a job's hosts still answers: after a failure this tells a dead host from a bad program,
// which no launcher's exit code or words do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

struct HostAnswer {
  std::string host;
  std::string trouble;  // why it is out: "does not answer: ssh: connect to ... timed out"; "": fine
  std::string swept;    // what a job had left behind there and was ended; "": nothing
};

/// What is run on each host: finds every process of the job's token, ends it, says what it ended.
/// `program` is bench-rank on that host.
std::vector<std::string> sweep_command(const std::string& program, const std::string& token);

using HostCheck = std::function<std::vector<HostAnswer>(
    const std::vector<Place>& places, const LaunchSettings& settings, const std::string& program,
    const std::string& token)>;

/// Asks all at once through the remote shell agent; takes at most the connect timeout and some
/// seconds. Places that are this host are swept without an agent.
std::vector<HostAnswer> answering_hosts(const std::vector<Place>& places,
                                        const LaunchSettings& settings, const std::string& program,
                                        const std::string& token);

/// Asks through steps of the allocation.
HostCheck check_through(const SlurmSite& site);

/// What the ranks of a job that hangs are doing, host by host, before they are ended: "node01: 1
/// running; node02: 1 stopped". Which of them keeps the others waiting, nobody can say for sure.
using RankLook =
    std::function<std::string(const std::vector<Place>& places, const LaunchSettings& settings,
                              const std::string& program, const std::string& token)>;

std::string look_at_ranks(const std::vector<Place>& places, const LaunchSettings& settings,
                          const std::string& program, const std::string& token);
RankLook look_through(const SlurmSite& site);

}  // namespace bench
