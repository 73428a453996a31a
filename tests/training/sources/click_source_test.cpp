#include "training/sources/click_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/auc.h"
#include "training/sources/click_model.h"

namespace bench::training {
namespace {

struct Click {
  std::vector<float> dense;
  std::vector<std::int32_t> ids;
  ClickSample sample;
};

Click read_click(const ClickSource& source, Split split, std::uint64_t index) {
  Click made{std::vector<float>(static_cast<std::size_t>(source.shape().dense)),
             std::vector<std::int32_t>(static_cast<std::size_t>(source.shape().ids())),
             {}};
  made.sample = {.dense = made.dense, .ids = made.ids};
  source.read(split, index, made.sample);
  return made;
}

/// The best attainable figures of a click source, and those of models that lack something.
struct ClickFloor {
  double click_rate = 0;        // mean of the true probabilities
  double log_loss = 0;          // of the labels, by the true probabilities (nats): the floor
  double blind_log_loss = 0;    // the same, by the labels' mean: no features
  double auc = 0;               // expected, by the true probabilities: the ceiling
  double main_effects_auc = 0;  // expected, by every feature alone
};

/// Of evaluation samples 0 to `samples` - 1 of a source with an oracle.
ClickFloor floor_of(const ClickSource& source, std::uint64_t samples) {
  std::vector<float> dense(static_cast<std::size_t>(source.shape().dense));
  std::vector<std::int32_t> ids(static_cast<std::size_t>(source.shape().ids()));
  std::vector<double> probabilities;
  std::vector<float> best, alone;
  ClickFloor floor;
  double labels = 0;
  ClickSample sample{.dense = dense, .ids = ids};
  for (std::uint64_t index = 0; index < samples; ++index) {
    source.read(Split::evaluation, index, sample);
    const double p = sample.probability;
    probabilities.push_back(p);
    best.push_back(static_cast<float>(p));
    alone.push_back(static_cast<float>(sample.main_effects));
    floor.click_rate += p / static_cast<double>(samples);
    floor.log_loss -= std::log(sample.label > 0 ? p : 1 - p) / static_cast<double>(samples);
    labels += sample.label / static_cast<double>(samples);
  }
  floor.blind_log_loss = -labels * std::log(labels) - (1 - labels) * std::log(1 - labels);
  floor.auc = expected_auc(best, probabilities);
  floor.main_effects_auc = expected_auc(alone, probabilities);
  return floor;
}

std::int64_t total_rows(const ClickModelOptions& options) {
  return std::accumulate(options.shape.rows.begin(), options.shape.rows.end(), std::int64_t{0});
}

/// A source with a wrong oracle.
class WrongProbability : public ClickModel {
 public:
  using ClickModel::ClickModel;
  void read(Split split, std::uint64_t index, ClickSample& sample) const override {
    ClickModel::read(split, index, sample);
    sample.probability = 1 / (1 + std::exp(-sample.main_effects));
  }
};

/// Chi square of clicks against expectations over ten bins of the reported probability.
double calibration(const ClickSource& source) {
  std::map<int, std::pair<double, double>> tenths;  // of p: clicks - p, and its variance
  for (std::uint64_t index = 0; index < 100000; ++index) {
    const ClickSample sample = read_click(source, Split::train, index).sample;
    auto& [excess, variance] = tenths[static_cast<int>(sample.probability * 10)];
    excess += sample.label - sample.probability;
    variance += sample.probability * (1 - sample.probability);
  }
  double chi = 0;
  for (const auto& [tenth, cell] : tenths) chi += cell.first * cell.first / cell.second;
  return chi;
}

TEST_CASE("click frequencies match their probabilities, and a wrong oracle is found") {
  CHECK(calibration(ClickModel(tiny_clicks())) < 35);  // chi square of 10: above in 1 of 10^4
  CHECK(calibration(WrongProbability(tiny_clicks())) > 300);
}

TEST_CASE("the statistics of the smallest click log match its header") {
  const ClickFloor floor = floor_of(ClickModel(tiny_clicks()), 100000);
  INFO("rate " << floor.click_rate << " loss " << floor.log_loss << " blind "
               << floor.blind_log_loss << " AUC " << floor.auc << " main "
               << floor.main_effects_auc);
  CHECK(floor.click_rate == Approx(0.3763).margin(6e-5));
  CHECK(floor.log_loss == Approx(0.4471).margin(6e-5));
  CHECK(floor.blind_log_loss == Approx(0.6623).margin(6e-5));
  CHECK(floor.auc == Approx(0.8595).margin(6e-5));
  CHECK(floor.main_effects_auc == Approx(0.8074).margin(6e-5));
}

TEST_CASE("log-odds are the sum of weights, effects and interactions of the law") {
  ClickModelOptions options = tiny_clicks();
  options.shape.rows[1] = 5000;  // most are not kept
  options.shape.lookups[2] = 3;
  options.tail = 20;
  const ClickModel model(options);
  const ClickTables& law = model.tables();
  for (std::uint64_t index = 0; index < 200; ++index) {
    const Click click = read_click(model, Split::train, index);
    double odds = law.bias + law.curve * (std::pow(click.dense[0], 2) - 1);
    for (std::size_t i = 0; i < click.dense.size(); ++i) odds += law.weights[i] * click.dense[i];
    std::vector<std::array<double, kFactors>> factors(12);
    std::size_t at = 0;
    for (std::uint32_t f = 0; f < 12; ++f)
      for (std::uint32_t i = 0; i < law.tables[f].lookups; ++i) {
        const auto id = static_cast<std::uint32_t>(click.ids[at++]);
        std::uint32_t rank = 0;
        while (std::uint64_t{rank} * law.tables[f].stride % law.tables[f].rows != id) ++rank;
        const ClickRow row = row_of(law, f, rank);
        odds += row.main;
        for (int k = 0; k < kFactors; ++k)
          factors[f].at(static_cast<std::size_t>(k)) += row.factors[k];
      }
    for (std::size_t f = 0; f < 12; ++f)
      for (std::size_t g = 0; g < f; ++g)
        for (std::size_t k = 0; k < kFactors; ++k)
          odds += law.interaction * factors[f].at(k) * factors[g].at(k);
    CHECK(click.sample.probability == Approx(1 / (1 + std::exp(-odds))).epsilon(1e-9));
  }
}

TEST_CASE("a click does not depend on the reader, nor evaluation on the seed") {
  ClickModelOptions options = tiny_clicks();
  const ClickModel one(options);
  options.seed = 2;
  const ClickModel two(options);
  const Click first = read_click(one, Split::train, 3);
  read_click(one, Split::train, 4);
  CHECK(read_click(one, Split::train, 3).ids == first.ids);
  CHECK(read_click(one, Split::train, 3).dense == first.dense);
  CHECK(read_click(one, Split::train, 4).dense != first.dense);
  CHECK(read_click(two, Split::train, 3).dense != first.dense);
  CHECK(read_click(one, Split::evaluation, 3).dense != first.dense);
  CHECK(read_click(two, Split::evaluation, 3).dense == read_click(one, Split::evaluation, 3).dense);
}

TEST_CASE("IDs stay within their table and cover a small table") {
  for (const ClickModelOptions& options : {tiny_clicks(), small_clicks(), standard_clicks()}) {
    const ClickModel model(options);
    std::vector<std::vector<int>> seen;
    for (const std::int64_t rows : options.shape.rows)
      seen.emplace_back(static_cast<std::size_t>(std::min<std::int64_t>(rows, 50)));
    for (std::uint64_t index = 0; index < 2000; ++index) {
      const Click click = read_click(model, Split::train, index);
      std::size_t at = 0;
      for (std::size_t f = 0; f < seen.size(); ++f)
        for (int i = 0; i < options.shape.lookups[f]; ++i) {
          const std::int32_t id = click.ids[at++];
          REQUIRE(id >= 0);
          REQUIRE(id < options.shape.rows[f]);
          if (options.shape.rows[f] <= 50) ++seen[f].at(static_cast<std::size_t>(id));
        }
    }
    for (std::size_t f = 0; f < seen.size(); ++f)
      if (options.shape.rows[f] <= 50)
        CHECK(std::ranges::all_of(seen[f], [](int count) { return count > 0; }));
  }
}

TEST_CASE("the larger click logs have the documented rows and lookups") {
  CHECK(total_rows(tiny_clicks()) == 1806);
  CHECK(total_rows(small_clicks()) == Approx(10e6).epsilon(0.01));
  CHECK(total_rows(standard_clicks()) == 204184588);
  CHECK(standard_clicks().shape.ids() == 214);
  CHECK(std::ranges::max(standard_clicks(1000000).shape.rows) == 1000000);
}

TEST_CASE("tables with too few rows or no lookups are refused") {
  ClickModelOptions options = tiny_clicks();
  options.shape.rows[3] = 1;
  CHECK_THROWS_WITH(ClickModel(options), "table 3 has 1 rows and 1 lookups");
  options.shape.rows.pop_back();
  CHECK_THROWS_AS(ClickModel(options), Error);
}

}  // namespace
}  // namespace bench::training
