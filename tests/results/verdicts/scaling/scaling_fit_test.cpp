#include "results/verdicts/scaling/scaling_fit.h"

#include <cmath>
#include <random>

#include "results/stats/means.h"
#include "results/verdicts/scaling/scaling_curve.h"
#include "results/verdicts/scaling/small_system.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

// The reference values were computed with SciPy's curve_fit on ln X.
const std::vector<RateAt> kReference = {{1, 100},   {2, 196},   {4, 380},  {8, 710},
                                        {16, 1240}, {32, 1900}, {64, 2300}};

std::vector<RateAt> simulated(double alpha, double beta, double noise, std::mt19937_64& random,
                              int runs = 3) {
  std::normal_distribution<double> gauss;
  std::vector<RateAt> values;
  for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0})
    for (int i = 0; i < runs; ++i)
      values.push_back({n, 100.0 * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)) *
                               std::exp(noise * gauss(random))});
  return values;
}

}  // namespace

TEST_CASE("USL and Amdahl give the reference's parameters, intervals and AICc") {
  const auto usl = usl_fit(kReference);
  REQUIRE(usl);
  CHECK(usl->lambda.value == Approx(99.749201).epsilon(1e-7));
  CHECK(usl->lambda.low == Approx(99.3804).epsilon(1e-6));
  CHECK(usl->lambda.high == Approx(100.118).epsilon(1e-5));
  CHECK(usl->alpha.value == Approx(.015965623).epsilon(1e-6));
  CHECK(usl->alpha.low == Approx(.0153517).margin(5e-7));
  CHECK(usl->alpha.high == Approx(.0165796).margin(5e-7));
  CHECK(usl->beta.value == Approx(1.904428e-4).epsilon(1e-6));
  CHECK(usl->beta.low == Approx(1.80325e-4).epsilon(1e-4));
  CHECK(usl->beta.high == Approx(2.0056e-4).epsilon(1e-4));
  CHECK(usl->deviation == Approx(.0021373245553697696).epsilon(1e-7));
  CHECK(usl->aicc == Approx(-61.99211667388512).epsilon(1e-7));
  CHECK(usl->best_n() == Approx(71.88244716082265).epsilon(1e-6));
  CHECK(usl->rate(usl->best_n()) == Approx(2311.4615038122233).epsilon(1e-7));
  CHECK(predict(*usl, 128)->rate == Approx(2085.0747969080435).epsilon(1e-7));
  const auto amdahl = amdahl_fit(kReference);
  REQUIRE(amdahl);
  CHECK(amdahl->lambda.value == Approx(103.14443).epsilon(1e-7));
  CHECK(amdahl->alpha.value == Approx(.026797183).epsilon(1e-7));
  CHECK(amdahl->alpha.low == Approx(.0210192).margin(2e-6));
  CHECK(amdahl->alpha.high == Approx(.0325752).margin(2e-6));
  CHECK(amdahl->deviation == Approx(.04858734049415951).epsilon(1e-7));
  CHECK(amdahl->aicc == Approx(-30.696797375682557).epsilon(1e-7));
  CHECK(predict(*amdahl, 128)->rate == Approx(2998.355778949092).epsilon(1e-7));
}

TEST_CASE("nothing is predicted beyond twice the largest measured number") {
  const auto usl = usl_fit(kReference);
  CHECK(predict(*usl, 128));
  CHECK_FALSE(predict(*usl, 129));
  CHECK_FALSE(predict(*usl, 0));
}

TEST_CASE("too few different numbers give no fit, however many runs there are") {
  const std::vector<RateAt> four = {{1, 1}, {2, 2}, {4, 4}, {8, 7}, {8, 7.1}, {8, 7.2}};
  CHECK_FALSE(usl_fit(four));
  CHECK(amdahl_fit(four));
  CHECK_FALSE(amdahl_fit(std::vector<RateAt>{{1, 1}, {2, 2}, {4, 4}, {4, 4.1}}));
  CHECK_FALSE(amdahl_fit(std::vector<RateAt>{{1, 1}, {2, 2}, {4, 4}, {8, 0.0}}));
  CHECK_FALSE(amdahl_fit(std::vector<RateAt>{{1, 1}, {2, 2}, {4, 4}, {0.5, 1.0}}));
}

TEST_CASE("with five single runs USL has no AICc") {
  const auto five = std::span(kReference).first(5);
  CHECK_FALSE(std::isfinite(usl_fit(five)->aicc));
  CHECK(std::isfinite(amdahl_fit(five)->aicc));
}

TEST_CASE("a negative parameter is clamped to zero with an upper bound") {
  // Each doubling brings a little more than twice.
  std::vector<RateAt> values;
  for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0})
    values.push_back({n, 100.0 * std::pow(n, 1.02) * (n == 4.0 ? 1.001 : 1.0)});
  const auto usl = usl_fit(values);
  REQUIRE(usl);
  CHECK(usl->alpha.on_bound);
  CHECK(usl->beta.on_bound);
  CHECK(usl->alpha.value == 0.0);
  CHECK(usl->alpha.high > 0.0);
  CHECK(std::isnan(usl->alpha.low));
  CHECK(std::isinf(usl->best_n()));
  CHECK(predict(*usl, 64)->low < predict(*usl, 64)->rate);
}

TEST_CASE("parameter intervals have their nominal coverage") {
  std::mt19937_64 random(7);
  int alpha = 0, beta = 0, next = 0;
  constexpr int kSeries = 400;
  for (int i = 0; i < kSeries; ++i) {
    const auto fit = usl_fit(simulated(0.02, 2e-4, 0.01, random));
    REQUIRE(fit);
    alpha += fit->alpha.low <= 0.02 && 0.02 <= fit->alpha.high;
    beta += fit->beta.low <= 2e-4 && 2e-4 <= fit->beta.high;
    const double seen = simulated(0.02, 2e-4, 0.01, random, 1).back().rate;
    const auto at = predict(*fit, 64);
    next += at->low <= seen && seen <= at->high;
  }
  for (const int covered : {alpha, beta, next}) {
    CHECK(covered >= 0.92 * kSeries);
    CHECK(covered <= 0.985 * kSeries);
  }
}

TEST_CASE("AICc selects Amdahl without crosstalk and USL with it") {
  std::mt19937_64 random(8);
  int amdahl = 0, usl = 0;
  constexpr int kSeries = 100;
  for (int i = 0; i < kSeries; ++i) {
    const auto serial = simulated(0.05, 0.0, 0.01, random),
               pairs = simulated(0.05, 5e-4, 0.01, random);
    amdahl += amdahl_fit(serial)->aicc < usl_fit(serial)->aicc;
    usl += usl_fit(pairs)->aicc < amdahl_fit(pairs)->aicc;
  }
  CHECK(amdahl >= 75);  // a false second parameter costs AICc about one choice in ten
  CHECK(usl >= 99);
}

TEST_CASE("efficiencies, Karp-Flatt and Gustafson give the reference's values") {
  const std::vector<double> expected = {1, .98, .95, .8875, .775, .59375, .359375};
  const LogMean base = log_mean(std::vector<double>{100});
  for (std::size_t i = 0; i < kReference.size(); ++i) {
    const LogMean here = log_mean(std::vector<double>{kReference[i].rate});
    CHECK((ratio_of(here, base) / kReference[i].n).value == Approx(expected[i]));
  }
  CHECK(karp_flatt(23.0, 64) == Approx(.028295376121463076));
  CHECK(std::isnan(karp_flatt(1.0, 1)));
  const std::vector<double> n = {1, 2, 4, 8, 16}, times = {10, 10.1, 10.3, 10.6, 11.3};
  std::vector<double> speed_ups;
  for (std::size_t i = 0; i < n.size(); ++i) speed_ups.push_back(n[i] * times[0] / times[i]);
  CHECK(gustafson_serial(n, speed_ups) == Approx(.10968220891931735));
}

TEST_CASE("the interval of a ratio needs two runs per side and has nominal coverage") {
  const std::vector<double> one = {100}, two = {99, 101}, three = {190, 195, 200};
  CHECK(std::isnan(ratio_of(log_mean(one), log_mean(three)).low));
  const Ratio ratio = ratio_of(log_mean(three), log_mean(two));
  CHECK(ratio.low < ratio.value);
  CHECK(ratio.value < ratio.high);
  std::mt19937_64 random(9);
  std::normal_distribution<double> gauss;
  int held = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> a, b;
    for (int k = 0; k < 4; ++k)
      a.push_back(100 * std::exp(0.01 * gauss(random))),
          b.push_back(50 * std::exp(0.03 * gauss(random)));
    const Ratio of = ratio_of(log_mean(a), log_mean(b));
    held += of.low <= 2.0 && 2.0 <= of.high;
  }
  CHECK(held >= 1880);
  CHECK(held <= 1980);
}

TEST_CASE("logarithmic and linear growth of time are distinguished") {
  std::vector<TimeAt> tree, ring;
  int i = 0;
  for (const double n : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0}) {
    const double noise = ++i % 2 == 0 ? 1.002 : 0.998;
    tree.push_back({n, (5e-6 + 3e-6 * std::log(n)) * noise});
    ring.push_back({n, (5e-6 + 1e-6 * n) * noise});
  }
  const auto of_tree = time_fit(tree), of_ring = time_fit(ring);
  REQUIRE(of_tree);
  REQUIRE(of_ring);
  CHECK(of_tree->per_worker == 0.0);
  CHECK(of_tree->per_log == Approx(3e-6).epsilon(0.02));
  CHECK(of_ring->per_log == 0.0);
  CHECK(of_ring->per_worker == Approx(1e-6).epsilon(0.02));
  CHECK(of_ring->seconds(64) == Approx(69e-6).epsilon(0.01));
  CHECK_FALSE(time_fit(std::span(tree).first(4)));
}

TEST_CASE("a singular matrix has no inverse, a badly scaled one does") {
  CHECK_FALSE(inverse({{1, 1}, {1, 1}}));
  CHECK_FALSE(inverse({{0}}));
  const auto found = inverse({{1e12, 1.0}, {1.0, 4e-12}});
  REQUIRE(found);
  CHECK((*found)[0][0] == Approx(4e-12 / 3.0));
  CHECK((*found)[1][1] == Approx(1e12 / 3.0));
}
