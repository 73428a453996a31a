// Vectors of Mann and Whitney, Hodges and Lehmann and Student were computed with SciPy 1.10.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/hodges_lehmann.h"
#include "results/stats/means.h"
#include "results/stats/rank_tests.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

using Values = std::vector<double>;

const Values kOld = {101.2, 99.8, 100.5, 100.1, 99.6, 100.9};
const Values kNew = {97.9, 98.6, 97.2, 98.8, 99.7, 98.1};

Values logs(Values values) {
  for (double& value : values) value = std::log(value);
  return values;
}

}  // namespace

TEST_CASE("the normal and Student's distributions agree with tables, tails included") {
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(1e-10) == Approx(-6.361340902404056).epsilon(1e-12));
  CHECK(normal_cdf(normal_quantile(0.3)) == Approx(0.3).epsilon(1e-14));
  CHECK(std::isnan(normal_quantile(1.5)));
  CHECK(student_cdf(-4.062019202317992, 9) == Approx(0.0014166756135142733).epsilon(1e-12));
  CHECK(student_cdf(-3.6457738090378933, 29) == Approx(0.0005184592164177594).epsilon(1e-12));
  CHECK(2 * student_cdf(-14.702309163421987, 6) == Approx(6.219662314824021e-06).epsilon(1e-10));
  CHECK(2 * student_cdf(-4.534438673255199, 9.17401361515319) ==
        Approx(0.0013496851601143799).epsilon(1e-10));
  CHECK(student_quantile(0.977, 24) == Approx(2.1044147227048073).epsilon(1e-12));
  CHECK(student_quantile(0.975, 3) == Approx(3.182446305284263).epsilon(1e-12));
}

TEST_CASE("Mann and Whitney's exact p is that of all orders, with ties too") {
  const RankTest plain = mann_whitney(kOld, kNew);
  CHECK(plain.statistic == 35.0);
  CHECK(plain.exact);
  CHECK(plain.p == Approx(4.0 / 924.0).epsilon(1e-12));
  const RankTest ties = mann_whitney(Values{1, 2, 2, 3}, Values{2, 3, 4, 4});
  CHECK(ties.statistic == 2.5);
  CHECK(ties.p == Approx(14.0 / 70.0).epsilon(1e-12));
  CHECK(mann_whitney(Values{1, 1, 1}, Values{1, 1, 1}).p == 1.0);
  CHECK(mann_whitney(Values{}, Values{1}).p == 1.0);
}

TEST_CASE("Mann and Whitney's p by the normal distribution, with its correction") {
  const RankTest test = mann_whitney_by_normal(kOld, kNew);
  CHECK(test.statistic == 35.0);
  CHECK_FALSE(test.exact);
  CHECK(test.p == Approx(0.00823901882572464).epsilon(1e-12));
  CHECK(mann_whitney_by_normal(Values{1, 1}, Values{1, 1}).p == 1.0);
  CHECK(mann_whitney_by_normal(Values{1}, Values{}).p == 1.0);
}

TEST_CASE("the least p of Mann and Whitney's test is what each size can reach") {
  const std::array<double, 4> known = {0.0285714286, 0.0079365079, 0.0021645022, 0.0001554002};
  const std::array<int, 4> sizes = {4, 5, 6, 8};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Values a, b;
    for (int k = 0; k < sizes[i]; ++k) a.push_back(k), b.push_back(100 + k);
    CHECK(mann_whitney(a, b).p == Approx(known[i]).epsilon(1e-6));
  }
}

TEST_CASE("medians of few values have the interval of order statistics, or none") {
  const std::array<std::pair<int, int>, 7> known = {
      {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {11, 2}, {12, 3}, {15, 4}}};
  for (const auto& [n, rank] : known)
    CHECK(median_interval_rank(static_cast<std::size_t>(n)) == static_cast<std::size_t>(rank));
  CHECK(median(kOld) == Approx(100.3));
  CHECK(median(kNew) == Approx(98.35));
  CHECK(median_interval(kOld)->low == 99.6);
  CHECK(median_interval(kOld)->high == 101.2);
  CHECK_FALSE(median_interval(Values{1, 2, 3, 4, 5}));
}

TEST_CASE("beyond fifty values the normal approximation is used, with its correction") {
  Values a, b;
  for (int i = 0; i < 51; ++i) a.push_back(i), b.push_back(i + 7.5);
  const RankTest test = mann_whitney(a, b);
  CHECK_FALSE(test.exact);
  // (|946 - 1300.5| - 0.5) / sqrt(51 * 51 * 103 / 12) = 2.369
  CHECK(test.statistic == 946.0);
  CHECK(test.p == Approx(0.01783).epsilon(0.02));
  CHECK(mann_whitney_cdf(50, 50)[1250] == Approx(0.5014).epsilon(1e-3));
  CHECK(mann_whitney_cdf(50, 50)[0] == Approx(1.0 / 1.0089134454556415e29).epsilon(1e-9));
}

TEST_CASE("Hodges and Lehmann's shift and its exact interval") {
  const Shift shift = hodges_lehmann(logs(kOld), logs(kNew));
  CHECK(shift.estimate == Approx(-0.019701976765405416).epsilon(1e-12));
  CHECK(std::exp(shift.estimate) == Approx(0.9804908388198127).epsilon(1e-12));
  CHECK(std::exp(shift.low) == Approx(0.9702675916749252).epsilon(1e-12));
  CHECK(std::exp(shift.high) == Approx(0.9899799599198399).epsilon(1e-12));
  CHECK(shift.confidence == Approx(0.9588744588744589).epsilon(1e-12));
}

TEST_CASE("too few values have a shift and no interval") {
  const Shift shift = hodges_lehmann(Values{1, 2, 3}, Values{2, 3, 4});
  CHECK(shift.estimate == 1.0);
  CHECK(std::isnan(shift.low));
  CHECK(shift.confidence == 0.0);
  CHECK(std::isfinite(hodges_lehmann(Values{1, 2, 3, 4}, Values{2, 3, 4, 5}).low));
  CHECK(std::isnan(hodges_lehmann(Values{}, Values{1}).estimate));
}

TEST_CASE("the signed rank test, its exact p, and the interval of Walsh averages") {
  // Sizes rank 5 4 8 3 7 (2) 6 (1): 33 of 36 are positive. Five of 256 choices of signs leave 3 or
  // less to the negative ones.
  const Values d = {1.1, 0.9, 2.0, 0.4, 1.7, -0.3, 1.3, -0.2};
  const RankTest test = signed_rank(d);
  CHECK(test.statistic == 33.0);
  CHECK(test.p == Approx(0.0390625).epsilon(1e-12));
  const Shift shift = paired_shift(d);
  CHECK(shift.confidence == Approx(1.0 - 2.0 * 5.0 / 256.0).epsilon(1e-12));
  CHECK(shift.low == Approx(0.05).epsilon(1e-9));   // the fourth smallest: (-0.3 + 0.4) / 2
  CHECK(shift.high == Approx(1.65).epsilon(1e-9));  // the fourth largest: (2.0 + 1.3) / 2
  CHECK(std::isnan(paired_shift(Values{1, 2, 3, 4, 5}).low));
  CHECK(signed_rank(Values{0, 0}).p == 1.0);
}

TEST_CASE("intervals of equal distributions have nominal coverage") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int missed = 0, rejected = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values a(8), b(8);
    for (double& x : a) x = normal(random);
    for (double& x : b) x = normal(random);
    const Shift shift = hodges_lehmann(a, b);
    missed += shift.low > 0.0 || shift.high < 0.0;
    rejected += mann_whitney(a, b).p <= 0.05;
  }
  CHECK(missed <= 0.065 * kTrials);
  CHECK(missed >= 0.03 * kTrials);
  CHECK(std::abs(missed - rejected) <= 0.01 * kTrials);
}

TEST_CASE("Welch's test matches the reference") {
  const WelchTest test = welch(kOld, kNew);
  CHECK(test.t == Approx(4.534438673255199).epsilon(1e-12));
  CHECK(test.degrees == Approx(9.17401361515319).epsilon(1e-12));
  CHECK(test.p == Approx(0.0013496851601143799).epsilon(1e-10));
  CHECK(test.interval.low == Approx(-2.9449748856261926).epsilon(1e-10));
  CHECK(test.interval.high == Approx(-0.988358447707173).epsilon(1e-10));
  CHECK(std::isnan(welch(Values{1}, Values{1, 2}).p));
}

TEST_CASE("order statistics of pairs equal those of the explicit pairs") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Values a(60), b(55);
  for (double& x : a) x = std::round(4.0 * normal(random));  // with ties
  for (double& x : b) x = normal(random);
  Values differences, means;
  for (const double y : b)
    for (const double x : a) differences.push_back(y - x);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = i; j < a.size(); ++j) means.push_back(0.5 * (a[i] + a[j]));
  for (Values* values : {&a, &b, &differences, &means}) std::ranges::sort(*values);
  for (std::size_t rank = 1; rank <= differences.size(); rank += 37)
    CHECK(nth_difference(a, b, rank) == Approx(differences[rank - 1]).margin(1e-12));
  for (std::size_t rank = 1; rank <= means.size(); rank += 17)
    CHECK(nth_pair_mean(a, rank) == Approx(means[rank - 1]).margin(1e-12));
  CHECK(nth_difference(a, b, differences.size()) == differences.back());
  CHECK(nth_pair_mean(a, means.size()) == means.back());
  const Shift shift = hodges_lehmann(a, b);
  CHECK(shift.estimate == Approx(median(differences)).margin(1e-12));
  CHECK(shift.low < shift.estimate);
  CHECK(paired_shift(a).estimate == Approx(median(means)).margin(1e-12));
}
