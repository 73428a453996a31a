#include "probes/shared/thread_counts.h"

#include <algorithm>

#include "core/error.h"

namespace bench {

int thread_count(State& state, int asked) {
  const int cores = state.device().cores();
  const int threads = asked == 0 ? cores : asked;
  if (threads < 1 || threads > cores)
    throw Error(ErrorKind::input,
                "job " + state.job().id + " requests " + std::to_string(asked) +
                    " threads, but this rank may use " + std::to_string(cores) + " cores",
                "use at most that many, or 0 for all");
  return threads;
}

std::vector<int> thread_counts(State& state) {
  std::vector<int> counts;
  for (const int asked : state.list<int>("threads")) {
    const int threads = thread_count(state, asked);
    if (std::ranges::find(counts, threads) == counts.end()) counts.push_back(threads);
  }
  return counts;
}

}  // namespace bench
