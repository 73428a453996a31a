// Chooses the checks of a host that fit its time budget, and their order. A check finds a fault
// with a probability and takes time; the value of a set of checks is
//   value(S) = sum over faults f of chance_f x loss_f x (1 - prod over s in S of (1 - finds_s,f)),
// the loss it is expected to detect. Source: the Selector of SuperBench (ATC'24) in the form of
// a weighted coverage, whose greedy solution is at least (1 - 1/e) / 2 of the best one when the
// better of it and of the best single check is taken (Khuller, Moss and Naor 1999).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// A kind of fault of a host.
struct FaultChance {
  double chance = 0.0;  // that the host has it now, 0..1
  double loss = 1.0;    // cost while undetected; only ratios matter
};
using FaultChances = std::map<std::string, FaultChance>;

struct NightCheck {
  std::string name;
  double cost_s = 0.0;
  std::map<std::string, double> finds = {};  // fault -> detection probability
};

struct CheckChoice {
  std::vector<std::size_t> checks;  // indices in the list, best gain per second first
  double value = 0.0;
  double cost_s = 0.0;
  bool exact = true;  // else greedy, for too many checks to try all sets
};

/// Exhaustive search up to this many checks.
inline constexpr std::size_t kMostExact = 20;

double value_of(const std::vector<std::size_t>& set, const std::vector<NightCheck>& checks,
                const FaultChances& faults);

/// The set of the greatest value within the budget, the cheaper one of equal values, without checks
/// that add nothing.
CheckChoice choose_checks(const std::vector<NightCheck>& checks, const FaultChances& faults,
                          double budget_s);

}  // namespace bench
