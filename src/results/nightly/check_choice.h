// Which checks to make of a host in the time there is, and in which order. A check finds a fault
// with a probability and takes time; what a set of checks is worth is
//   value(S) = sum over faults f of chance_f x loss_f x (1 - prod over s in S of (1 - finds_s,f)),
// the loss that it is expected to show. Source: the Selector of SuperBench (ATC'24) in the form of
// a weighted coverage, whose greedy solution is at least (1 - 1/e) / 2 of the best one when the
// better of it and of the best single check is taken (Khuller, Moss and Naor 1999).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// A kind of fault that a host may have.
struct FaultChance {
  double chance = 0.0;  // that the host has it now, 0..1
  double loss = 1.0;    // what it costs while nobody knows; only ratios matter
};
using FaultChances = std::map<std::string, FaultChance>;

struct NightCheck {
  std::string name;
  double cost_s = 0.0;
  std::map<std::string, double> finds = {};  // fault -> probability that this check shows it
};

struct CheckChoice {
  std::vector<std::size_t> checks;  // places in the list, what finds most per second first
  double value = 0.0;
  double cost_s = 0.0;
  bool exact = true;  // else greedy: there were too many checks to try all sets
};

/// Up to so many checks all sets are tried.
inline constexpr std::size_t kMostExact = 20;

double value_of(const std::vector<std::size_t>& set, const std::vector<NightCheck>& checks,
                const FaultChances& faults);

/// The set of the greatest value that costs no more than the budget. Of equal values the cheaper
/// one; a check that adds nothing is not made.
CheckChoice choose_checks(const std::vector<NightCheck>& checks, const FaultChances& faults,
                          double budget_s);

}  // namespace bench
