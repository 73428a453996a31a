// Isolates the host, or the link between two hosts, that makes jobs of several hosts fail or slow.
// Group testing by halves: a part with the symptom is halved again, down to two hosts, which are
// separated with good partners (hosts of a job without the symptom). One bad host of N takes 2
// log2(N) jobs, log2(N) of them in sequence. Pure and stateless: the next jobs follow from the
// trials so far, so that a search can resume and its conclusions can be recomputed from records.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/json_fields.h"

namespace bench {

using Hosts = std::vector<std::string>;

enum class Symptom {
  absent,
  present,
  unknown  // no result: the job was skipped, or has no value
};

/// One job on some of the hosts.
struct Trial {
  Hosts hosts;  // two or more; one if the rules allow
  Symptom symptom = Symptom::unknown;
  double value = kNoValue;  // measured value, if any
  std::string job = {};
  /// The symptom is only that other sets of as many hosts were faster. It counts once both these
  /// hosts and the fastest such set were measured three times, as other work slows some.
  bool compared = false;
  double rate = kNoValue;  // the value or its inverse, so that larger is better
};

enum class SearchFindingKind {
  host,        // symptom with two partners, each fine without it
  link,        // both ends are fine with others, and together repeatedly show it
  together,    // all together show it repeatedly and no subset does: a matter of size
  everywhere,  // every subset down to pairs shows it: most hosts, or a shared cause
  flaky,       // not reproduced on the same hosts, nor on subsets
  undecided    // no good partner is known, or jobs had no result
};

struct SearchFinding {
  SearchFindingKind kind = SearchFindingKind::undecided;
  Hosts hosts;                             // one host, two link ends, or the affected set
  std::vector<std::size_t> evidence = {};  // indices of trials, strongest first
  bool operator==(const SearchFinding&) const = default;
};

struct SearchStep {
  std::vector<Hosts> next;  // disjoint jobs to run now; empty when finished
  std::vector<SearchFinding> findings;
  std::vector<Hosts> open;  // sets with the symptom, not yet explained
};

struct SearchRules {
  /// Trials on one host are allowed: it is isolated if it shows the symptom twice and a good host
  /// exists.
  bool alone = false;
  /// With this many disjoint sets and no good host, halving is pointless.
  std::size_t everywhere_sets = 8;
};

/// `order`: all eligible hosts; neighbours stay together as long as possible. Empty if no trial
/// shows the symptom. "Hosts" may be anything that jobs run on in sets, such as devices of a host.
SearchStep search_step(const Hosts& order, const std::vector<Trial>& trials,
                       const SearchRules& rules = {});

std::string_view to_string(SearchFindingKind kind);

/// Whether it isolates a host or a link.
bool isolates_cause(const SearchFinding& finding);

// Answers for a set of hosts from the trials of a search, directly or through a larger fine set.

using HostNumbers = std::vector<std::size_t>;  // indices in the order of all hosts, ascending

enum class Answer { pending, absent, present, unknown };

class Trials {
 public:
  Trials(const Hosts& order, const std::vector<Trial>& trials);

  /// Present if at least half of the jobs on exactly these hosts show it, pending while a
  /// comparison lacks repeats; subsets of a fine set are fine.
  Answer answer(const HostNumbers& set) const;
  /// The fastest set of as many hosts, if a comparison with it lacks a repeat of it.
  std::optional<HostNumbers> unrepeated_reference(const HostNumbers& set) const;
  /// Whether it occurred twice; pending after one job.
  Answer again(const HostNumbers& set) const;

  /// Hosts that took part in a job without the symptom.
  const std::set<std::size_t>& good() const { return good_; }
  HostNumbers all() const;
  /// Maximal sets with the symptom, largest first.
  std::vector<HostNumbers> largest_present() const;
  /// Number of disjoint sets with the symptom.
  std::size_t disjoint_present() const;

  Hosts names(const HostNumbers& set) const;
  /// Indices of the most informative trials, for display.
  std::vector<std::size_t> evidence(SearchFindingKind kind, const HostNumbers& set) const;

 private:
  struct Seen {
    std::size_t present = 0, absent = 0, unknown = 0;
    std::size_t compared = 0;  // of the present ones, by comparison only
    double best = kNoValue;    // its highest value

    std::size_t measured() const { return present + absent; }
  };
  bool only_compared(const Seen& seen) const { return seen.compared == seen.present; }
  /// Whether it shows the symptom, and not only in a comparison that lacks repeats.
  bool shows(const HostNumbers& set, const Seen& seen) const;
  const HostNumbers* reference(std::size_t hosts) const;
  struct Kept {
    HostNumbers hosts;
    Symptom symptom;
  };
  std::vector<std::size_t> pick(std::size_t most, bool (*fits)(const Kept&, const HostNumbers&),
                                const HostNumbers& set) const;
  std::vector<std::size_t> alone(const HostNumbers& one) const;
  /// Adds the smallest fine set that contains one host and not the other.
  void add_fine(std::size_t with, std::size_t without, std::vector<std::size_t>& list) const;

  Hosts order_;
  std::vector<Kept> kept_;
  std::map<HostNumbers, Seen> seen_;
  std::set<std::size_t> good_;
};

}  // namespace bench
