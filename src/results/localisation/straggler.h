// Which rank the others wait for, from the times that each rank spent itself in each sample of a
// collective (chunk "rank_times PARAMS" of the probes). All begin behind one barrier. In an
// operation in which nobody ends before everybody has begun, who begins late waits least and has
// the shortest time; who is slow inside it, or in an operation in which ranks may end early, has
// the longest. So a rank stands out whose time differs from the median of all ranks in the same
// sample
// - by a tenth and by 100 us in the median over the samples: less may be the barrier's own exit,
// - and that is the outermost one in so many samples as chance makes it, among equals, once in a
//   thousand series (binomial; corrected for the number of ranks and the two directions).
// Of two ranks none can be told: what is short for one is long for the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/reports/text_style.h"
#include "results/run_records.h"

namespace bench {

struct Straggler {
  std::size_t rank = 0;
  bool comes_last = false;  // the others wait for it; else it takes longest
  double share = 0.0;       // its time over that of the median rank, minus 1; the median of samples
  std::size_t outermost = 0, samples = 0;  // in how many of how many samples it is the extreme one
  double chance = 1.0;                     // that equals would give this
};

/// `seconds[rank][sample]`, as many samples of each rank. Nothing where none can be told.
std::optional<Straggler> find_straggler(const std::vector<std::vector<double>>& seconds);

/// Probability that `hits` or more of `n` trials hit when each does with `chance`.
double binomial_tail(std::size_t hits, std::size_t n, double chance);

struct FoundStraggler {
  std::string job, case_name;
  Json params = Json::object();
  std::string host;  // "" where ranks are not spread evenly over the hosts
  Straggler straggler;
  std::string text;
};

/// Of all series of a run, in their order.
std::vector<FoundStraggler> stragglers(const RunRecords& run);

/// A section of a report; "" where nobody stands out.
std::string stragglers_text(const std::vector<FoundStraggler>& list, const TextStyle& style);
Json stragglers_json(const std::vector<FoundStraggler>& list);

}  // namespace bench
