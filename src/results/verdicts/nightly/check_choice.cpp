#include "results/verdicts/nightly/check_choice.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace bench {
namespace {

constexpr double kShortest = 1e-3;  // of a check, s: avoids infinite gain per second

using Set = std::vector<std::size_t>;

/// Remaining risk per fault after the checks so far: chance x loss x prod (1 - finds).
class RemainingRisk {
 public:
  RemainingRisk(const std::vector<NightCheck>& checks, const FaultChances& faults) {
    for (const auto& [name, fault] : faults) {
      left_.push_back(fault.chance * fault.loss);
      std::vector<double> missed;
      for (const NightCheck& check : checks) {
        const auto found = check.finds.find(name);
        missed.push_back(found == check.finds.end() ? 1.0 : 1.0 - found->second);
      }
      missed_.push_back(std::move(missed));
    }
  }

  double gain(std::size_t check) const {
    double sum = 0.0;
    for (std::size_t f = 0; f < left_.size(); ++f) sum += left_[f] * (1.0 - missed_[f][check]);
    return sum;
  }
  void add(std::size_t check) {
    for (std::size_t f = 0; f < left_.size(); ++f) left_[f] *= missed_[f][check];
  }
  std::vector<double> state() const { return left_; }
  void restore(std::vector<double> state) { left_ = std::move(state); }

 private:
  std::vector<double> left_;                 // by fault
  std::vector<std::vector<double>> missed_;  // fault, check
};

double cost(const std::vector<NightCheck>& checks, std::size_t at) {
  return std::max(kShortest, checks[at].cost_s);
}

/// Branch and bound over all sets, depth first.
class Search {
 public:
  Search(const std::vector<NightCheck>& checks, const FaultChances& faults, double budget_s)
      : checks_(checks), risk_(checks, faults), budget_s_(budget_s) {}

  Set best() {
    look(0, 0.0, 0.0);
    return best_;
  }

 private:
  static constexpr double kEqual = 1e-15;

  void look(std::size_t at, double value, double spent) {
    const bool cheaper = value > best_value_ - kEqual && spent < best_cost_ && !set_.empty();
    if (value > best_value_ + kEqual || cheaper) {
      best_ = set_;
      best_value_ = value;
      best_cost_ = spent;
    }
    if (value + most(at, budget_s_ - spent) < best_value_ - kEqual) return;
    for (std::size_t next = at; next < checks_.size(); ++next) {
      const double gain = risk_.gain(next);
      if (!(gain > 0.0) || spent + checks_[next].cost_s > budget_s_) continue;
      const auto before = risk_.state();
      set_.push_back(next);
      risk_.add(next);
      look(next + 1, value + gain, spent + checks_[next].cost_s);
      set_.pop_back();
      risk_.restore(before);
    }
  }

  /// Upper bound of the gain of checks from `at` on in that time: gains only shrink in combination,
  /// and the last check counts in part.
  double most(std::size_t at, double left_s) const {
    std::vector<std::pair<double, std::size_t>> rates;
    for (; at < checks_.size(); ++at) rates.emplace_back(risk_.gain(at) / cost(checks_, at), at);
    std::ranges::sort(rates, std::greater<>());
    double sum = 0.0;
    for (const auto& [rate, check] : rates) {
      const double taken_s = std::min(left_s, cost(checks_, check));
      if (taken_s <= 0.0) break;
      sum += rate * taken_s;
      left_s -= taken_s;
    }
    return sum;
  }

  const std::vector<NightCheck>& checks_;
  RemainingRisk risk_;
  double budget_s_;
  Set set_, best_;
  double best_value_ = 0.0, best_cost_ = 0.0;
};

/// Greedy: repeatedly takes the check with the best gain per second from `offered`.
Set by_gain(Set offered, const std::vector<NightCheck>& checks, const FaultChances& faults,
            double budget_s) {
  RemainingRisk hidden(checks, faults);
  Set taken;
  double spent = 0.0;
  for (;;) {
    std::erase_if(offered, [&](std::size_t at) { return spent + checks[at].cost_s > budget_s; });
    const auto rate = [&](std::size_t at) { return hidden.gain(at) / cost(checks, at); };
    const auto next = std::ranges::max_element(offered, {}, rate);
    if (next == offered.end() || !(hidden.gain(*next) > 0.0)) return taken;
    spent += checks[*next].cost_s;
    hidden.add(*next);
    taken.push_back(*next);
    offered.erase(next);
  }
}

Set everything(const std::vector<NightCheck>& checks) {
  Set all(checks.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

double cost_of(const Set& set, const std::vector<NightCheck>& checks) {
  double sum = 0.0;
  for (const std::size_t at : set) sum += checks[at].cost_s;
  return sum;
}

Set greedy(const std::vector<NightCheck>& checks, const FaultChances& faults, double budget_s) {
  Set single;
  for (std::size_t at = 0; at < checks.size(); ++at)
    if (checks[at].cost_s <= budget_s &&
        value_of({at}, checks, faults) > value_of(single, checks, faults))
      single = {at};
  Set taken = by_gain(everything(checks), checks, faults, budget_s);
  return value_of(single, checks, faults) > value_of(taken, checks, faults) ? single : taken;
}

}  // namespace

double value_of(const Set& set, const std::vector<NightCheck>& checks, const FaultChances& faults) {
  RemainingRisk hidden(checks, faults);
  double value = 0.0;
  for (const std::size_t at : set) {
    value += hidden.gain(at);
    hidden.add(at);
  }
  return value;
}

CheckChoice choose_checks(const std::vector<NightCheck>& checks, const FaultChances& faults,
                          double budget_s) {
  CheckChoice choice;
  Set set = everything(checks);
  const bool all_fit = cost_of(set, checks) <= budget_s;
  choice.exact = all_fit || checks.size() <= kMostExact;
  if (!all_fit)
    set = choice.exact ? Search(checks, faults, budget_s).best() : greedy(checks, faults, budget_s);
  choice.checks = by_gain(std::move(set), checks, faults, budget_s);
  choice.cost_s = cost_of(choice.checks, checks);
  choice.value = value_of(choice.checks, checks, faults);
  return choice;
}

}  // namespace bench
