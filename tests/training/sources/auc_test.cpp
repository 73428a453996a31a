#include "training/sources/auc.h"

#include <cmath>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/random.h"

namespace bench::training {
namespace {

double by_definition(const std::vector<float>& s, const std::vector<double>& p) {
  double above = 0, pairs = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < s.size(); ++j) {
      if (i == j) continue;
      pairs += p[i] * (1 - p[j]);
      above += p[i] * (1 - p[j]) * (s[i] > s[j] ? 1 : s[i] == s[j] ? 0.5 : 0);
    }
  return above / pairs;
}

TEST_CASE("the expected AUC matches its definition, with and without ties, also for labels") {
  for (const std::uint64_t kind : {0u, 1u, 2u, 3u}) {
    const RandomStream stream = random_stream(1, kind);
    std::vector<float> scores;
    std::vector<double> probabilities;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const float score = static_cast<float>(uniform(stream.bits(2 * i)));
      scores.push_back(kind % 2 == 0 ? score : std::floor(score * 10));
      const double p = 0.5 * score + 0.5 * uniform(stream.bits(2 * i + 1));
      probabilities.push_back(kind < 2 ? p : std::round(p));
    }
    CHECK(expected_auc(scores, probabilities) ==
          Approx(by_definition(scores, probabilities)).epsilon(1e-12));
  }
}

TEST_CASE("perfect, reversed and constant scores have AUCs of 1, 0 and 0.5") {
  const std::vector<double> labels = {0, 0, 1, 1, 1};
  CHECK(expected_auc(std::vector<float>{1, 2, 3, 4, 5}, labels) == 1);
  CHECK(expected_auc(std::vector<float>{5, 4, 3, 2, 1}, labels) == 0);
  CHECK(expected_auc(std::vector<float>{7, 7, 7, 7, 7}, labels) == 0.5);
}

TEST_CASE("the AUC of one class is NaN, and NaN scores are an error") {
  CHECK(std::isnan(expected_auc(std::vector<float>{1, 2}, std::vector<double>{1, 1})));
  CHECK(std::isnan(expected_auc({}, {})));
  CHECK_THROWS_WITH(expected_auc(std::vector<float>{1, NAN}, std::vector<double>{1, 0}),
                    "the score of sample 1 is not a number");
  CHECK_THROWS_AS(expected_auc(std::vector<float>{1}, std::vector<double>{}), Error);
}

}  // namespace
}  // namespace bench::training
