#include "results/stats/prediction.h"

#include <random>
#include <vector>

#include "core/order_statistics.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::vector<double> kNights{100.1, 99.7, 100.4, 100.0, 99.9, 100.3, 99.8, 100.2, 100.0, 99.6};

}

TEST_CASE("the prediction test matches the reference values") {
  const PredictionTest plain = predict(kNights, 98.9);
  CHECK(plain.centre == Approx(100.0));
  CHECK(std::sqrt(plain.variance) == Approx(0.2581988897471623));
  CHECK(plain.t == Approx(-4.062019202317992).epsilon(1e-10));
  CHECK(plain.degrees == 9.0);
  CHECK(plain.below == Approx(0.0014166756135142733).epsilon(1e-9));
  CHECK(plain.above == Approx(1.0 - plain.below));
}

TEST_CASE("a prior moderates the variance and lends its degrees of freedom") {
  const PredictionTest moderated = predict(kNights, 98.9, {0.09, 20.0});
  CHECK(moderated.variance == Approx(0.08275862068965517).epsilon(1e-10));
  CHECK(moderated.t == Approx(-3.6457738090378933).epsilon(1e-10));
  CHECK(moderated.degrees == 29.0);
  CHECK(moderated.below == Approx(0.0005184592164177594).epsilon(1e-8));
}

TEST_CASE("a constant history flags nothing below the noise floor") {
  const std::vector<double> still(10, 5.0);
  CHECK(predict(still, 5.0).below == Approx(0.5));
  CHECK(predict(still, 4.999, {}, 0.001).below > 0.1);
  CHECK(predict(still, 4.9).below == Approx(0.0).margin(1e-300));
}

TEST_CASE("the prior of many variances is what they were drawn with") {
  // s^2 = s0^2 * F(9, 20): chi-squared noise of nine degrees about variances of a prior of twenty.
  std::mt19937_64 random(3);
  std::chi_squared_distribution<double> nine(9.0), twenty(20.0);
  std::vector<double> variances, degrees(20'000, 9.0);
  for (std::size_t i = 0; i < degrees.size(); ++i)
    variances.push_back(0.09 * 20.0 / twenty(random) * nine(random) / 9.0);
  const VariancePrior prior = variance_prior(variances, degrees);
  CHECK(prior.variance == Approx(0.09).epsilon(0.02));
  CHECK(prior.degrees == Approx(20.0).epsilon(0.1));
}

TEST_CASE("variances that differ by chance alone make a firm prior; a few make none") {
  std::mt19937_64 random(4);
  std::chi_squared_distribution<double> nine(9.0);
  std::vector<double> variances, degrees(2'000, 9.0);
  for (std::size_t i = 0; i < degrees.size(); ++i) variances.push_back(nine(random) / 9.0);
  CHECK(variance_prior(variances, degrees).degrees > 100.0);
  CHECK(variance_prior({variances.data(), 7}, {degrees.data(), 7}).degrees == 0.0);
  const std::vector<double> still(20, 0.0);
  CHECK(variance_prior(still, {degrees.data(), 20}).degrees == 0.0);
}

TEST_CASE("digamma and trigamma have their known values") {
  CHECK(digamma(1.0) == Approx(-0.5772156649015329).epsilon(1e-12));
  CHECK(digamma(0.5) == Approx(-1.9635100260214235).epsilon(1e-12));
  CHECK(trigamma(1.0) == Approx(1.6449340668482264).epsilon(1e-12));
  CHECK(trigamma(10.0) == Approx(0.10516633568168575).epsilon(1e-12));
}

TEST_CASE("normal and heavy noise tails are identified separately for each side") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> gauss;
  std::student_t_distribution<double> heavy(5.0);
  TailMoments normal, wild, low_side, high_side;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> x, y, skewed;
    for (int t = 0; t < 40; ++t) {
      x.push_back(gauss(random));
      y.push_back(heavy(random));
      skewed.push_back(std::exp(0.8 * gauss(random)));
    }
    normal.add(x, true);
    wild.add(y, true);
    low_side.add(skewed, true);
    high_side.add(skewed, false);
  }
  CHECK(normal.degrees() > 20.0);
  CHECK(wild.degrees() < 10.0);
  CHECK(high_side.degrees() < 10.0);
  CHECK(low_side.degrees() > 20.0);
  CHECK(predict(kNights, 98.9, {}, 0.0, 5.0).below > predict(kNights, 98.9).below);
  CHECK(std::isinf(TailMoments{}.degrees()));
}
