// A value beyond what was seen, where the noise is skewed or its tails are heavy.
#include <random>

#include "results/verdicts/regression/level_history.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

/// Thirty nights at 0 +- 0.01, the tenth of them at `odd`.
std::vector<double> nights_with(double odd) {
  std::vector<double> nights;
  for (int i = 0; i < 30; ++i) nights.push_back(i == 9 ? odd : (i % 2 == 0 ? 0.01 : -0.01));
  return nights;
}

double chance_above(const std::vector<double>& nights, double value, const NoisePrior& prior = {}) {
  return predicted(nights, value, prior).above;
}

}  // namespace

TEST_CASE("in a single series a value must be twice as far out as any before to be significant") {
  const std::vector<double> calm = nights_with(-0.01), burst = nights_with(0.05);
  CHECK(chance_above(calm, 0.08) < 0.0005);
  CHECK(chance_above(burst, 0.08) > 0.02);           // one of thirty came as near
  CHECK(chance_above(burst, 0.20) < 0.001);          // none came half as far
  CHECK(predicted(burst, -0.15, {}).below < 0.001);  // on the other side there was none
}

TEST_CASE("with peers a value must exceed all but one in five hundred of theirs") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> gauss;
  NoisePrior prior{.variance = {1e-4, 30.0}, .pooled = true};
  for (int host = 0; host < 40; ++host) {
    std::vector<double> nights;
    for (int night = 0; night < 30; ++night) nights.push_back(0.01 * gauss(random));
    prior.above.add(nights, false);
  }
  const std::vector<double> calm = nights_with(-0.01);
  const double alone = chance_above(calm, 0.06, prior);
  CHECK(alone < 1e-4);
  // Three hosts had such a night before: then it is as rare as it was, and no rarer.
  for (int host = 0; host < 3; ++host) prior.above.add(nights_with(0.5), false);
  const double share = 4.0 / (1.0 + prior.above.count);
  CHECK(chance_above(calm, 0.06, prior) >= share);
  CHECK(chance_above(calm, 0.06, prior) < 3.0 * share);
}
