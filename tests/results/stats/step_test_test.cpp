#include "results/stats/step_test.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "results/stats/series_noise.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("a step test is generalised least squares with the covariance of correlated neighbours") {
  // Computed with the whole covariance matrix phi^|i - j| and its inverse.
  const std::vector<double> y = {10.1, 9.8, 10.3, 10.0, 9.7, 10.2, 10.4, 9.9, 9.2, 9.0, 9.3, 9.1};
  const StepTest found = step_test(y, 8, 0.4);
  CHECK(found.shift == Approx(-0.8544235924932959).epsilon(1e-12));
  CHECK(found.error == Approx(0.21274738073283678).epsilon(1e-12));
  CHECK(found.variance == Approx(0.06753008042895446).epsilon(1e-12));
  CHECK(found.t == Approx(-4.01614153626766).epsilon(1e-12));
  CHECK(found.degrees == 10.0);
  CHECK(found.p == Approx(0.002453651780132171).epsilon(1e-6));
  const StepTest moderated = step_test(y, 8, 0.4, {.variance = 0.05, .degrees = 20.0});
  CHECK(moderated.variance == Approx(0.05051002680965149).epsilon(1e-12));
  CHECK(moderated.t == Approx(-4.643750134891384).epsilon(1e-12));
  CHECK(moderated.p == Approx(6.35877323298062e-05).epsilon(1e-6));
}

TEST_CASE("a step test without correlation is Student's test of two means") {
  const StepTest found = step_test(std::vector<double>{1, 2, 3, 7, 8, 9}, 3, 0.0);
  CHECK(found.shift == Approx(6.0));
  CHECK(found.error == Approx(std::sqrt(2.0 / 3.0)));
  CHECK(found.degrees == 4.0);
}

TEST_CASE("equal values have no step, and the least deviation bounds that of constant levels") {
  CHECK(step_test(std::vector<double>(8, 3.0), 4, 0.3).p == 1.0);
  const StepTest found = step_test(std::vector<double>{1, 1, 1, 1, 1.1, 1.1, 1.1}, 4, 0.0, {}, 0.1);
  CHECK(found.variance == Approx(0.01));
  CHECK(found.p > 0.1);
}

TEST_CASE("the p of a step test is uniform for correlated noise, and not if that is ignored") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise;
  int known = 0, ignored = 0;
  constexpr int kSeries = 2000;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<double> x = {noise(random)};
    while (x.size() < 60) x.push_back(0.4 * x.back() + std::sqrt(0.84) * noise(random));
    known += step_test(x, 53, 0.4).p < 0.05;
    ignored += step_test(x, 53, 0.0).p < 0.05;
  }
  CHECK(known < 0.065 * kSeries);
  CHECK(known > 0.035 * kSeries);
  CHECK(ignored > 0.12 * kSeries);
}

TEST_CASE(
    "the best of neighbouring places is less than as many chances, and hardly more than one") {
  CHECK(over_places(0.01, 60, 50, 50, 0.4) == 0.01);
  CHECK(over_places(0.0, 60, 46, 57, 0.4) == 0.0);
  CHECK(over_places(1.0, 60, 46, 57, 0.4) == 1.0);
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise;
  constexpr int kSeries = 20000;
  constexpr double kLevel = 0.02;
  for (const double phi : {0.0, 0.4}) {
    int bounded = 0, by_number = 0;
    for (int i = 0; i < kSeries; ++i) {
      std::vector<double> x = {noise(random)};
      while (x.size() < 30)
        x.push_back(phi * x.back() + std::sqrt(1.0 - phi * phi) * noise(random));
      double p = 1.0;
      for (std::size_t at = 16; at <= 27; ++at)
        p = std::min(p, step_test(x, at, phi, {.variance = 1.0, .degrees = 1e9}).p);
      bounded += over_places(p, x.size(), 16, 27, phi) < kLevel;
      by_number += 12.0 * p < kLevel;
    }
    CHECK(bounded < 1.15 * kLevel * kSeries);
    CHECK(bounded > 0.75 * kLevel * kSeries);
    CHECK(by_number < 0.75 * kLevel * kSeries);
  }
}

TEST_CASE("correlation about levels is not biased by the means that it is taken about") {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise;
  double sum = 0.0;
  constexpr int kSeries = 500;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<double> x = {noise(random)};
    while (x.size() < 60) x.push_back(0.4 * x.back() + std::sqrt(0.84) * noise(random));
    for (std::size_t t = 30; t < x.size(); ++t) x[t] += 8.0;
    sum += correlation_about_levels(x, std::vector<std::size_t>{0, 30});
  }
  CHECK(sum / kSeries == Approx(0.4).margin(0.03));
  CHECK(correlation_about_levels(std::vector<double>(20, 1.0), std::vector<std::size_t>{0}) == 0.0);
}

TEST_CASE("correlations of a kind are drawn together as far as chance explains their differences") {
  const std::vector<double> alike = {0.3, 0.4, 0.5, 0.4}, counts(4, 60.0);
  const auto shrunk = shrunk_correlations(alike, counts);
  for (const double one : shrunk) CHECK(one == Approx(shrunk[0]));
  CHECK(shrunk[0] > 0.4);
  CHECK(shrunk[0] < 0.45);
  const auto apart = shrunk_correlations(std::vector<double>{0.0, 0.0, 0.0, 0.8}, counts);
  CHECK(apart[3] > 0.6);  // a series that differs keeps most of its own
  CHECK(apart[0] > 0.19);
}
