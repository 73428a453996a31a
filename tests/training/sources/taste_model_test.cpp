// Histories of changing tastes: the forward filter against all paths of tastes, and the law's
// figures.
#include "training/sources/taste_model.h"

#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/auc.h"
#include "training/sources/finite.h"

namespace bench::training {
namespace {

History history_of(const HistorySource& source, Split split, std::uint64_t index) {
  History history;
  source.read(split, index, history);
  return history;
}

bool same_history(const History& a, const History& b) {
  return a.group == b.group && a.items == b.items && a.actions == b.actions && a.times == b.times;
}

TasteOptions short_histories() {
  TasteOptions options = tiny_tastes();
  options.shape.events = 6;
  options.shortest = 6;
  return options;
}

/// P(the actions of the first `count` events | their items) as a sum over all paths of tastes.
double probability_by_paths(const TasteModel& model, const History& history, std::size_t count,
                            bool changes) {
  const auto tastes = static_cast<std::size_t>(model.tastes());
  std::size_t paths = 1;
  for (std::size_t event = 0; event < count; ++event) paths *= tastes;
  double sum = 0.0;
  for (std::size_t path = 0; path < paths; ++path) {
    double weight = 1.0;
    std::size_t rest = path, before = 0;
    for (std::size_t event = 0; event < count; ++event, rest /= tastes) {
      const std::size_t taste = rest % tastes;
      const double stay = event == 0 ? 0.0
                          : changes  ? model.stays(history.times[event] - history.times[event - 1])
                                     : 1.0;
      weight *= (taste == before ? stay : 0.0) + (1.0 - stay) / static_cast<double>(tastes);
      const double p =
          model.probability(static_cast<int>(taste), history.items[event], history.group);
      weight *= history.actions[event] == 1 ? p : 1.0 - p;
      before = taste;
    }
    sum += weight;
  }
  return sum;
}

}  // namespace

TEST_CASE("the filter of tastes gives the probabilities that a sum over all paths gives") {
  const TasteModel model(short_histories());
  for (std::uint64_t index = 0; index < 4; ++index) {
    const History history = history_of(model, Split::train, index);
    const HistoryTruth truth = model.truth(history);
    REQUIRE(truth.best.size() == 6);
    for (std::size_t event = 0; event < 6; ++event) {
      History acted = history;
      acted.actions[event] = 1;
      const auto by_paths = [&](bool changes) {
        return probability_by_paths(model, acted, event + 1, changes) /
               probability_by_paths(model, history, event, changes);
      };
      CHECK(truth.best[event] == Approx(by_paths(true)).epsilon(1e-10));
      CHECK(truth.constant_taste[event] == Approx(by_paths(false)).epsilon(1e-10));
    }
    double even = 0.0;
    for (int taste = 0; taste < model.tastes(); ++taste)
      even += model.probability(taste, history.items[3], history.group) / model.tastes();
    CHECK(truth.without_history[3] == Approx(even));
  }
}

TEST_CASE("the law of tastes has its stated figures, and history and its order matter") {
  const TasteModel model(tiny_tastes());
  std::vector<double> p;
  std::vector<float> best, without_history, constant;
  double actions = 0.0, loss = 0.0, expected_loss = 0.0, variance = 0.0;
  for (std::uint64_t index = 0; index < 4096; ++index) {
    const History history = history_of(model, Split::evaluation, index);
    const HistoryTruth truth = model.truth(history);
    for (std::size_t event = 0; event < history.length(); ++event) {
      const double q = truth.best[event];
      p.push_back(q);
      best.push_back(static_cast<float>(q));
      without_history.push_back(static_cast<float>(truth.without_history[event]));
      constant.push_back(static_cast<float>(truth.constant_taste[event]));
      actions += history.actions[event];
      loss -= std::log(history.actions[event] == 1 ? q : 1.0 - q);
      expected_loss -= q * std::log(q) + (1.0 - q) * std::log(1.0 - q);
      const double odds = std::log(q / (1.0 - q));
      variance += q * (1.0 - q) * odds * odds;
    }
  }
  const auto count = static_cast<double>(p.size());
  CHECK(actions / count == Approx(0.4735).margin(5e-5));
  CHECK(loss / count == Approx(0.5422).margin(5e-5));
  CHECK(expected_auc(best, p) == Approx(0.7995).margin(5e-5));
  CHECK(expected_auc(constant, p) == Approx(0.7042).margin(5e-5));
  CHECK(expected_auc(without_history, p) == Approx(0.5891).margin(5e-5));
  // The actions follow these probabilities: each step of the filter is a fair bet.
  CHECK(std::abs(loss - expected_loss) < 4.0 * std::sqrt(variance));
}

TEST_CASE("histories are functions of seed, split and number, of different lengths") {
  TasteOptions options = tiny_tastes();
  const TasteModel one(options);
  options.seed = 2;
  const TasteModel other(options);
  std::set<std::size_t> lengths;
  for (std::uint64_t index = 0; index < 300; ++index) {
    const History history = history_of(one, Split::train, index);
    CHECK(same_history(history, history_of(one, Split::train, index)));
    CHECK_FALSE(same_history(history, history_of(other, Split::train, index)));
    CHECK_FALSE(same_history(history, history_of(one, Split::evaluation, index)));
    CHECK(same_history(history_of(one, Split::evaluation, index),
                       history_of(other, Split::evaluation, index)));
    lengths.insert(history.length());
    CHECK(history.times[0] == 0);
    for (std::size_t event = 1; event < history.length(); ++event) {
      const std::int32_t time = history.times[event] - history.times[event - 1];
      CHECK(((time >= 1 && time <= kLongestStep) ||
             (time >= kShortestPause && time <= kLongestPause)));
    }
  }
  CHECK(*lengths.begin() == 8);
  CHECK(*lengths.rbegin() == 32);
  CHECK(lengths.size() == 25);
}

TEST_CASE("finite histories come back in the next epoch") {
  const TasteModel all(tiny_tastes());
  const FiniteHistories few(all, 10, 3);
  std::size_t found = 0;
  const History first = history_of(few, Split::train, 4);
  for (std::uint64_t index = 10; index < 20; ++index)
    found += same_history(first, history_of(few, Split::train, index)) ? 1 : 0;
  CHECK(found == 1);
  CHECK(few.truth(first).best == all.truth(first).best);
}

TEST_CASE("laws of tastes that make no sense are refused") {
  const auto refuses = [](auto change) {
    TasteOptions options = tiny_tastes();
    change(options);
    CHECK_THROWS_AS(TasteModel(options), Error);
  };
  refuses([](TasteOptions& options) { options.tastes = 3; });
  refuses([](TasteOptions& options) { options.topics = 0; });
  refuses([](TasteOptions& options) { options.shape.items = 1; });
  refuses([](TasteOptions& options) { options.shortest = 33; });
  refuses([](TasteOptions& options) { options.rate = 1.5; });
}

}  // namespace bench::training
