// Inputs of a sequential recommender, its quality against the law's filter, and the choice of its
// data.
#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/training/fresh_lane.h"
#include "training/sources/auc.h"
#include "training/workloads/hstu.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

/// Of evaluation histories, the logits as `score` has them.
template <class Score>
Quality quality_of_scores(FreshLane& hstu, std::uint64_t histories, const Score& score) {
  const auto evaluation = hstu.workload->evaluation(hstu.model);
  const View logits = hstu.lane.view(hstu.model.outputs[0]);
  const std::int64_t rows = logits.rows / 4;
  for (std::uint64_t first = 0; first < histories; first += 4) {
    hstu.workload->read(Split::evaluation, first, hstu.model, hstu.lane);
    hstu.lane.forward({});
    for (std::int64_t row = 0; row < logits.rows; ++row)
      logits.as<float>()[row] =
          score(first + static_cast<std::uint64_t>(row / rows),
                static_cast<std::size_t>(row % rows), logits.as<float>()[row]);
    evaluation->add(hstu.lane, first, 4);
  }
  const auto group = make_self_group();
  return evaluation->finish(*group);
}

}  // namespace

TEST_CASE("inputs of a sequential recommender are the event's item and the event before it") {
  FreshLane hstu(make_hstu_workload("tiny", 1), 2);
  hstu.workload->read(Split::train, 4, hstu.model, hstu.lane);
  const TasteModel source(hstu_setting("tiny").histories(1));
  History history;
  source.read(Split::train, 5, history);
  const auto input = [&](std::size_t which, std::size_t row) {
    return hstu.lane.view(hstu.model.inputs[which]).as<std::int32_t>()[row];
  };
  const auto length = static_cast<std::int32_t>(history.length());
  CHECK(input(0, 1) == length);
  for (std::size_t event = 0; event < 32; ++event) {
    const std::size_t row = 32 + event;
    if (event >= history.length()) {
      CHECK(input(6, row) == kNoLabel);
      continue;
    }
    CHECK(input(1, row) == history.items[event]);
    CHECK(input(2, row) == (event > 0 ? history.items[event - 1] : 0));
    CHECK(input(3, row) == (event > 0 ? history.actions[event - 1] : kNoAction));
    CHECK(input(4, row) == history.group);
    CHECK(input(5, row) == history.times[event]);
    CHECK(input(6, row) == history.actions[event]);
  }
}

TEST_CASE("the floor of a sequential recommender is the expected AUC of the law's filter") {
  FreshLane hstu(make_hstu_workload("tiny", 1), 4);
  const TasteModel source(hstu_setting("tiny").histories(1));
  const auto truth_of = [&](std::uint64_t index) {
    History history;
    source.read(Split::evaluation, index, history);
    return source.truth(history);
  };
  const auto log_odds_of = [](double p) { return static_cast<float>(std::log(p / (1.0 - p))); };
  const Quality fresh = quality_of_scores(hstu, 200, [](auto, auto, float z) { return z; });
  CHECK(fresh.native == Approx(0.5).margin(0.05));
  CHECK(fresh.gap == Approx(fresh.floor - fresh.native));
  CHECK(part_of(fresh, "log_loss") == Approx(std::log(2.0)).margin(0.01));
  const auto scored_by = [&](auto probabilities) {
    return quality_of_scores(hstu, 200, [&](std::uint64_t index, std::size_t event, float z) {
      const std::vector<double> p = probabilities(truth_of(index));
      return event < p.size() ? log_odds_of(p[event]) : z;
    });
  };
  const Quality best = scored_by([](const HistoryTruth& truth) { return truth.best; });
  CHECK(best.gap == Approx(0.0).margin(1e-6));
  CHECK(part_of(best, "log_loss_gap") == Approx(0.0).margin(1e-6));
  CHECK(part_of(best, "calibration") == Approx(1.0));
  CHECK(part_of(best, "late_gap") == Approx(0.0).margin(1e-6));
  const Quality none = scored_by([](const HistoryTruth& truth) { return truth.without_history; });
  CHECK(none.gap == Approx(part_of(fresh, "no_history_gap")).margin(1e-6));
  CHECK(none.gap > 0.15);
  const Quality constant =
      scored_by([](const HistoryTruth& truth) { return truth.constant_taste; });
  CHECK(constant.gap == Approx(part_of(fresh, "constant_taste_gap")).margin(1e-6));
  CHECK(constant.gap > 0.05);
}

TEST_CASE("baselines of hstu tiny are what the filter gains by history and by change") {
  const auto workload = make_hstu_workload("tiny", 1);
  const TasteModel source(hstu_setting("tiny").histories(1));
  std::vector<double> p;
  std::vector<float> best, without_history, constant;
  for (std::int64_t i = 0; i < workload->recipe().evaluation_samples; ++i) {
    History history;
    source.read(Split::evaluation, static_cast<std::uint64_t>(i), history);
    const HistoryTruth truth = source.truth(history);
    p.insert(p.end(), truth.best.begin(), truth.best.end());
    for (std::size_t event = 0; event < truth.best.size(); ++event) {
      best.push_back(static_cast<float>(truth.best[event]));
      without_history.push_back(static_cast<float>(truth.without_history[event]));
      constant.push_back(static_cast<float>(truth.constant_taste[event]));
    }
  }
  const double floor = expected_auc(best, p);
  const auto baselines = workload->baselines();
  REQUIRE(baselines.size() == 2);
  CHECK(baselines[0].second == Approx(floor - expected_auc(without_history, p)).margin(1e-5));
  CHECK(baselines[1].second == Approx(floor - expected_auc(constant, p)).margin(1e-5));
}

TEST_CASE("a sequential recommender answers in bf16 too") {
  FreshLane narrow(make_hstu_workload("tiny", 1), 4, Dtype::bf16);
  narrow.workload->read(Split::evaluation, 0, narrow.model, narrow.lane);
  narrow.lane.forward({});
  CHECK(std::isfinite(narrow.lane.view(narrow.model.losses).as<double>()[0]));
  const auto evaluation = narrow.workload->evaluation(narrow.model);
  evaluation->add(narrow.lane, 0, 4);
  const auto group = make_self_group();
  CHECK(evaluation->finish(*group).gap > 0.0);
}

TEST_CASE("an hstu batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return make_hstu_workload("tiny", seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("hstu repeats histories if asked, and refuses files and sequences") {
  const auto few = make_hstu_workload("tiny", 1, {.samples = 64});
  CHECK(few->repeats());
  CHECK(few->recipe().target_source.empty());
  CHECK(few->checksum(Split::train, 0, 64) != 0);
  DataChoice files;
  files.train = {"events.txt"};
  CHECK_THROWS_WITH(make_workload("hstu", "tiny", 1, 0, files), Contains("generated histories"));
  CHECK_THROWS_WITH(make_workload("hstu", "tiny", 1, 0, {.vocabulary = 9}),
                    Contains("generated histories"));
  CHECK_THROWS_WITH(make_workload("hstu", "tiny", 1, 8), Contains("hstu has no sequences"));
  CHECK_THROWS_WITH(make_workload("hstu", "huge", 1), Contains("hstu has no preset 'huge'"));
}

}  // namespace bench::training
