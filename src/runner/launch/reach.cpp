#include "runner/launch/reach.h"

#include "core/error.h"

namespace bench {

std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\0') throw Error(ErrorKind::input, "shell argument contains a zero byte");
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

Reach reach_by_agent(const LaunchSettings& settings) {
  return {[settings](const Place& place) {
            if (place.here) return std::vector<std::string>{};
            std::vector<std::string> words = agent_command(settings);
            words.push_back(place.address);
            return words;
          },
          true};
}

Reach reach_by_step(const SlurmSite& site, StepInput input) {
  return {[site, input](const Place& place) { return step_on_host(place.host, site, input); },
          false};
}

}  // namespace bench
