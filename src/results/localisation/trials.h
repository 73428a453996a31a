// Answers for a set of hosts from the trials of a search, directly or through a larger fine set.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/localisation/search.h"

namespace bench {

using HostNumbers = std::vector<std::size_t>;  // indices in the order of all hosts, ascending

enum class Answer { pending, absent, present, unknown };

class Trials {
 public:
  Trials(const Hosts& order, const std::vector<Trial>& trials);

  /// Present if at least half of the jobs on exactly these hosts show it; subsets of a fine set are
  /// fine.
  Answer answer(const HostNumbers& set) const;
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
  };
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
