// Which host, or which link between two hosts, makes jobs of several hosts fail or slow. Group
// testing by halves: a part that shows the symptom is halved again, down to two hosts; these are
// told apart with partners that are known to be good, because they took part in a job without the
// symptom. One bad host of N is named after 2 log2(N) jobs, log2(N) of them after one another.
// Pure and without memory: the trials so far say what comes next, so that a search goes on after an
// interruption and its conclusions can be drawn again from what was kept.
#pragma once

#include <string>
#include <vector>

#include "results/json_fields.h"

namespace bench {

using Hosts = std::vector<std::string>;

enum class Symptom {
  absent,
  present,
  unknown  // the job could not tell: it was skipped, or had no value
};

/// One job on some of the hosts.
struct Trial {
  Hosts hosts;  // two or more; one where rules let it
  Symptom symptom = Symptom::unknown;
  double value = kNoValue;  // what was measured, where there is a number
  std::string job = {};
};

enum class SearchFindingKind {
  host,        // shows it with two partners, each of which is fine without it
  link,        // both ends are fine with others, and the two together show it again and again
  together,    // all of them together show it again, and no part of them does: size, not a part
  everywhere,  // every part shows it, down to pairs: most hosts have it, or all share its cause
  flaky,       // the same job on the same hosts did not show it again, nor did its parts
  undecided    // no partner is known to be good, or jobs could not tell
};

struct SearchFinding {
  SearchFindingKind kind = SearchFindingKind::undecided;
  Hosts hosts;                             // one; the two ends; else those that it is about
  std::vector<std::size_t> evidence = {};  // places in the trials, the telling ones first
  bool operator==(const SearchFinding&) const = default;
};

struct SearchStep {
  std::vector<Hosts> next;  // jobs to run now; they share no host. Empty: the search has ended
  std::vector<SearchFinding> findings;
  std::vector<Hosts> open;  // sets that show it and are not explained yet
};

struct SearchRules {
  /// A trial may be on one alone: it convicts where it shows it there twice, and somebody is good.
  bool alone = false;
  /// Where so many disjoint sets show it and nobody is known to be good, halving tells no more.
  std::size_t everywhere_sets = 8;
};

/// `order`: all hosts that may take part; neighbours in it stay together as long as possible.
/// Nothing to do where no trial shows the symptom. Hosts may stand for anything that jobs can be
/// run on in sets, such as the devices of a host.
SearchStep search_step(const Hosts& order, const std::vector<Trial>& trials,
                       const SearchRules& rules = {});

std::string_view to_string(SearchFindingKind kind);

/// Whether it says who it is: one, or the link between two.
bool isolates_cause(const SearchFinding& finding);

}  // namespace bench
