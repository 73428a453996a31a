#include "runner/launch/reach.h"

namespace bench {

Reach reach_by_agent(const LaunchSettings& settings) {
  return {[settings](const Place& place) {
            if (place.here) return std::vector<std::string>{};
            std::vector<std::string> words = agent_words(settings);
            words.push_back(place.address);
            return words;
          },
          true};
}

Reach reach_by_step(const SlurmSite& site, StepInput input) {
  return {[site, input](const Place& place) { return reach_words(place.host, site, input); },
          false};
}

}  // namespace bench
