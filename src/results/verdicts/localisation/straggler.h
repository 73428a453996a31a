// Finds the rank that others wait for, from per-rank times in each sample of a collective (chunk
// "rank_times PARAMS" of the probes). All ranks start after a barrier. In a synchronising operation
// a late rank waits least and has the shortest time; a rank that is slow inside, or in an operation
// that ranks may leave early, has the longest. A rank is a straggler if its time differs from the
// median of all ranks in the same sample
// - by a tenth and by 100 us in the median over the samples: less may be barrier skew,
// - and is the extreme one more often than chance allows once in a thousand series (binomial,
//   corrected for the number of ranks and the two directions).
// With two ranks, neither can be singled out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/run_records.h"

namespace bench {

struct Straggler {
  std::size_t rank = 0;
  bool comes_last = false;  // arrives last; else it takes longest
  double share = 0.0;       // its time over that of the median rank, minus 1; the median of samples
  std::size_t outermost = 0, samples = 0;  // samples in which it is the extreme, and all
  double chance = 1.0;                     // under equal ranks
};

/// `seconds[rank][sample]`, equally many per rank. Empty for none.
std::optional<Straggler> find_straggler(const std::vector<std::vector<double>>& seconds);

/// Probability that `hits` or more of `n` trials hit when each does with `chance`.
double binomial_tail(std::size_t hits, std::size_t n, double chance);

struct FoundStraggler {
  std::string job, case_name;
  Json params = Json::object();
  std::string host;  // "" if ranks are not spread evenly
  Straggler straggler;
  std::string text;
};

/// For all series of a run, in order.
std::vector<FoundStraggler> stragglers(const RunRecords& run);

Json stragglers_json(const std::vector<FoundStraggler>& list);

}  // namespace bench
