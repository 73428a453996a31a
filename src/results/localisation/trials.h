// What the trials of a search say of a set of hosts: directly, or because a larger set was fine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/localisation/search.h"

namespace bench {

using HostNumbers = std::vector<std::size_t>;  // places in the order of all hosts, ascending

enum class Answer { pending, absent, present, unknown };

class Trials {
 public:
  Trials(const Hosts& order, const std::vector<Trial>& trials);

  /// Of the jobs on exactly these hosts, half or more showed it; a set inside one that is fine is
  /// fine.
  Answer answer(const HostNumbers& set) const;
  /// Whether it showed twice; pending after one job.
  Answer again(const HostNumbers& set) const;

  /// Hosts that took part in a job without the symptom.
  const std::set<std::size_t>& good() const { return good_; }
  HostNumbers all() const;
  /// Sets that show it and lie in no other that does, large ones first.
  std::vector<HostNumbers> largest_present() const;
  /// How many sets that show it share no host.
  std::size_t disjoint_present() const;

  Hosts names(const HostNumbers& set) const;
  /// Places of the trials that tell most, for people.
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
  /// The smallest set without the symptom that has the one host and not the other.
  void add_fine(std::size_t with, std::size_t without, std::vector<std::size_t>& list) const;

  Hosts order_;
  std::vector<Kept> kept_;
  std::map<HostNumbers, Seen> seen_;
  std::set<std::size_t> good_;
};

}  // namespace bench
