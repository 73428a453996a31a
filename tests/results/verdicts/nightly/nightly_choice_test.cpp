#include <cmath>
#include <limits>
#include <random>

#include "results/verdicts/nightly/check_choice.h"
#include "results/verdicts/nightly/fault_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const FaultChances kFaults = {{"gpu", {0.02}},   {"clk", {0.03}}, {"mem", {0.01}},
                              {"link", {0.015}}, {"nic", {0.02}}, {"ssd", {0.005}}};
const std::vector<NightCheck> kChecks = {{"gemm", 60, {{"gpu", 0.5}, {"clk", 0.6}}},
                                         {"hbm", 40, {{"gpu", 0.2}, {"mem", 0.7}}},
                                         {"nccl", 120, {{"link", 0.8}, {"nic", 0.5}}},
                                         {"ib", 50, {{"nic", 0.7}}},
                                         {"disk", 30, {{"ssd", 0.9}}},
                                         {"burn", 300, {{"gpu", 0.9}, {"clk", 0.9}, {"mem", 0.8}}}};

std::vector<std::string> names(const CheckChoice& choice, const std::vector<NightCheck>& checks) {
  std::vector<std::string> result;
  for (const std::size_t at : choice.checks) result.push_back(checks[at].name);
  return result;
}

/// Six checks, and more that find nothing, too many for an exhaustive search.
std::vector<NightCheck> too_many() {
  std::vector<NightCheck> checks = kChecks;
  while (checks.size() <= kMostExact) checks.push_back({"idle", 1, {}});
  return checks;
}

/// Brute force, independent of the code under test except value_of().
double best_value(const std::vector<NightCheck>& checks, const FaultChances& faults,
                  double budget_s) {
  double best = 0.0;
  for (std::size_t bits = 0; bits < std::size_t{1} << checks.size(); ++bits) {
    std::vector<std::size_t> set;
    double cost = 0.0;
    for (std::size_t at = 0; at < checks.size(); ++at)
      if ((bits >> at & 1) != 0) set.push_back(at), cost += checks[at].cost_s;
    if (cost <= budget_s) best = std::max(best, value_of(set, checks, faults));
  }
  return best;
}

}  // namespace

TEST_CASE("few checks: the optimal set is found where the greedy one is worse") {
  const CheckChoice choice = choose_checks(kChecks, kFaults, 240);
  CHECK(choice.exact);
  CHECK(choice.value == Approx(0.0590));
  CHECK(choice.cost_s == 220);
  CHECK(names(choice, kChecks) == std::vector<std::string>{"gemm", "hbm", "nccl"});
}

TEST_CASE("many checks: the greedy set is taken, ordered by gain per second") {
  const std::vector<NightCheck> checks = too_many();
  const CheckChoice choice = choose_checks(checks, kFaults, 240);
  CHECK_FALSE(choice.exact);
  CHECK(choice.value == Approx(0.0555));
  CHECK(choice.cost_s == 180);
  CHECK(names(choice, checks) == std::vector<std::string>{"gemm", "ib", "hbm", "disk"});
}

TEST_CASE("an expensive check that finds nearly all beats cheap ones that find little") {
  std::vector<NightCheck> checks(kMostExact, NightCheck{"cheap", 1, {{"rare", 0.9}}});
  checks.push_back({"dear", 100, {{"common", 0.9}}});
  const FaultChances faults = {{"rare", {0.001}}, {"common", {0.05}}};
  const CheckChoice choice = choose_checks(checks, faults, 100);
  CHECK(choice.value == Approx(0.045));
  CHECK(names(choice, checks) == std::vector<std::string>{"dear"});
}

TEST_CASE("no set of twelve random checks beats the chosen one") {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform;
  for (int round = 0; round < 5; ++round) {
    FaultChances faults;
    for (const char* fault : {"a", "b", "c", "d"})
      faults[fault] = {0.1 * uniform(generator), 1 + uniform(generator)};
    std::vector<NightCheck> checks(12);
    for (NightCheck& check : checks) {
      check.cost_s = 10 + 100 * uniform(generator);
      for (const auto& [fault, chance] : faults)
        if (uniform(generator) < 0.5) check.finds[fault] = uniform(generator);
    }
    const double best = best_value(checks, faults, 200);
    const CheckChoice choice = choose_checks(checks, faults, 200);
    CHECK(choice.value == Approx(best));
    CHECK(choice.cost_s <= 200);
  }
}

TEST_CASE("nothing is chosen if nothing fits or can be found") {
  CHECK(choose_checks(kChecks, kFaults, 10).checks.empty());
  CHECK(choose_checks(kChecks, {}, 1000).checks.empty());
  CHECK(choose_checks({}, kFaults, 1000).checks.empty());
}

TEST_CASE("the fault chance of a host rises with time since its check and with failures") {
  const FaultPrior prior{1, 100, 1e6, 1};
  FaultPast past{0, 0, 0, 0, 0};
  CHECK(fault_chance(prior, past) == Approx(0.01));
  past.age_s = 1e6;
  CHECK(fault_chance(prior, past) == Approx(1 - 0.99 * std::exp(-1.0)));
  past.age_s = std::numeric_limits<double>::infinity();
  CHECK(fault_chance(prior, past) == 1.0);
  past = {0, 0, 0, 0, 2};
  CHECK(fault_chance(prior, past) == Approx(0.03));
}

TEST_CASE("fleet observations update the priors") {
  const FaultPrior prior{1, 100, 1e6, 1};
  CHECK(fault_chance(prior, {0, 900, 0, 0, 0}) == Approx(0.001));
  CHECK(fault_chance(prior, {9, 900, 0, 0, 0}) == Approx(0.01));
  const double calm = fault_chance(prior, {0, 0, 9e6, 1e6, 0});
  CHECK(calm == Approx(1 - 0.99 * std::exp(-0.1)));
  CHECK(detection_probability(0.5, 0, 0) == 0.5);
  CHECK(detection_probability(0.5, 3, 4) == Approx(4.0 / 6.0));
}
