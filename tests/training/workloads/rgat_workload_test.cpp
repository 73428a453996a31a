// Inputs of a graph network, its quality against belief propagation, and the choice of its data.
#include <cmath>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/fresh_lane.h"
#include "tests/training/rgat_training.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

std::unique_ptr<Workload> small_rgat(std::uint64_t seed, const DataChoice& data = {}) {
  return make_rgat_workload("tiny", small_graph_rgat(), seed, data);
}

/// Of evaluation samples, with the probabilities that `probabilities` gives for each, or the
/// model's own if it gives none.
template <class Probabilities>
Quality quality_of(FreshLane& rgat, std::uint64_t samples, const Probabilities& probabilities) {
  const auto evaluation = rgat.workload->evaluation(rgat.model);
  const View logits = rgat.lane.view(rgat.model.outputs[0]);
  const auto rows = static_cast<std::uint64_t>(logits.rows);
  for (std::uint64_t first = 0; first < samples; first += rows) {
    rgat.workload->read(Split::evaluation, first, rgat.model, rgat.lane);
    rgat.lane.forward({});
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::vector<double> p = probabilities(first + i);
      for (std::size_t c = 0; c < p.size(); ++c)
        logits.as<float>()[i * p.size() + c] = static_cast<float>(std::log(p[c]));
    }
    evaluation->add(rgat.lane, first, logits.rows);
  }
  const auto group = make_self_group();
  return evaluation->finish(*group);
}

}  // namespace

TEST_CASE("inputs of a graph network are the features of the sampled nodes, and the class") {
  const PaperGraph graph(small_graph_rgat().graph(1));
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    FreshLane rgat(small_rgat(1), 2, dtype);
    rgat.workload->read(Split::train, 4, rgat.model, rgat.lane);
    for (const std::int64_t i : {0, 1}) {
      Neighbourhood sample;
      graph.read(Split::train, static_cast<std::uint64_t>(4 + i), sample);
      CHECK(rgat.lane.view(rgat.model.inputs.back()).as<std::int32_t>()[i] == sample.label);
      for (std::size_t at = 0; at < graph.groups().size(); ++at) {
        const NodeGroup& group = graph.groups()[at];
        const View rows = rgat.lane.view(rgat.model.inputs[at]);
        for (std::int64_t node = 0; node < group.nodes; ++node) {
          std::vector<float> expected(8);
          graph.features(group.type, sample.nodes[static_cast<std::size_t>(group.first + node)],
                         expected);
          const std::int64_t row = (i * group.nodes + node) * 8;
          for (std::int64_t k = 0; k < 8; ++k) {
            const double found = dtype == Dtype::f32
                                     ? static_cast<double>(rows.as<float>()[row + k])
                                     : rows.as<double>()[row + k];
            REQUIRE(found == static_cast<double>(expected[static_cast<std::size_t>(k)]));
          }
        }
      }
    }
  }
}

TEST_CASE("the floor of a graph network is the entropy of belief propagation's probabilities") {
  FreshLane rgat(small_rgat(1), 4);
  const PaperGraph graph(small_graph_rgat().graph(1));
  const auto truth_of = [&](std::uint64_t index) {
    Neighbourhood sample;
    graph.read(Split::evaluation, index, sample);
    return graph.truth(sample);
  };
  constexpr std::uint64_t kJudged = 100;
  double entropy = 0.0;
  for (std::uint64_t index = 0; index < kJudged; ++index)
    for (const double p : truth_of(index).best)
      entropy -= p > 0.0 ? p * std::log(p) / static_cast<double>(kJudged) : 0.0;
  const Quality fresh =
      quality_of(rgat, kJudged, [](std::uint64_t) { return std::vector<double>{}; });
  CHECK(fresh.floor == Approx(entropy));
  CHECK(fresh.gap == Approx(fresh.native - fresh.floor));
  CHECK(fresh.gap > 0.5);
  CHECK(part_of(fresh, "log_loss") == Approx(std::log(4.0)).margin(0.2));
  const auto quality_by = [&](auto member) {
    return quality_of(rgat, kJudged, [&](std::uint64_t index) { return truth_of(index).*member; });
  };
  const Quality best = quality_by(&NeighbourhoodTruth::best);
  CHECK(best.gap == Approx(0.0).margin(1e-6));
  CHECK(part_of(best, "log_loss_gap") == Approx(0.0).margin(1e-6));
  CHECK(part_of(best, "accuracy_gap") == Approx(0.0).margin(1e-6));
  CHECK(part_of(best, "accuracy") == part_of(best, "best_accuracy"));
  CHECK(part_of(fresh, "best_accuracy") == part_of(best, "best_accuracy"));
  const std::pair<std::vector<double> NeighbourhoodTruth::*, const char*> simpler[] = {
      {&NeighbourhoodTruth::one_hop, "one_hop_gap"},
      {&NeighbourhoodTruth::features, "features_gap"},
      {&NeighbourhoodTruth::alike, "alike_gap"},
      {&NeighbourhoodTruth::blind, "blind_gap"}};
  for (const auto& [member, part] : simpler) {
    INFO(part);
    const Quality of = quality_by(member);
    CHECK(of.gap == Approx(part_of(fresh, part)).margin(1e-5));
    CHECK(of.gap > 0.1);
    CHECK(part_of(of, "accuracy_gap") > 0.0);
  }
}

TEST_CASE("baselines of rgat tiny are what simpler predictions lack on its evaluation samples") {
  const auto workload = make_rgat_workload("tiny", 1);
  const PaperGraph graph(rgat_setting("tiny").graph(1));
  std::vector<double> lacks(4);
  const auto judged = static_cast<std::uint64_t>(workload->recipe().evaluation_samples);
  for (std::uint64_t index = 0; index < judged; ++index) {
    Neighbourhood sample;
    graph.read(Split::evaluation, index, sample);
    const NeighbourhoodTruth truth = graph.truth(sample);
    const std::vector<double>* simpler[] = {&truth.features, &truth.one_hop, &truth.alike,
                                            &truth.blind};
    for (std::size_t i = 0; i < lacks.size(); ++i)
      for (std::size_t c = 0; c < truth.best.size(); ++c)
        if (truth.best[c] > 0.0)
          lacks[i] += truth.best[c] * std::log(truth.best[c] / (*simpler[i])[c]) /
                      static_cast<double>(judged);
  }
  const auto baselines = workload->baselines();
  REQUIRE(baselines.size() == lacks.size());
  for (std::size_t i = 0; i < lacks.size(); ++i) {
    INFO(baselines[i].first);
    CHECK(baselines[i].second == Approx(lacks[i]).margin(1e-5));
    CHECK(lacks[i] > 2.0 * workload->recipe().target.value());
  }
}

TEST_CASE("a graph network answers in bf16 too") {
  FreshLane narrow(small_rgat(1), 4, Dtype::bf16);
  narrow.workload->read(Split::evaluation, 0, narrow.model, narrow.lane);
  narrow.lane.forward({});
  CHECK(std::isfinite(narrow.lane.view(narrow.model.losses).as<double>()[0]));
  const auto evaluation = narrow.workload->evaluation(narrow.model);
  evaluation->add(narrow.lane, 0, 4);
  const auto group = make_self_group();
  CHECK(evaluation->finish(*group).gap > 0.0);
}

TEST_CASE("an rgat batch checksum is the sum of its parts and depends on the seed") {
  const auto sum = [](std::uint64_t seed, std::uint64_t first, std::int64_t count) {
    return small_rgat(seed)->checksum(Split::train, first, count);
  };
  CHECK(sum(1, 0, 8) == sum(1, 0, 5) + sum(1, 5, 3));
  CHECK(sum(1, 0, 8) != sum(2, 0, 8));
}

TEST_CASE("rgat keeps its features in the cache, and refuses them when they are damaged") {
  const TemporaryDirectory folder;
  const DataChoice kept{.cache = folder.path()};
  const std::uint64_t sum = small_rgat(1, kept)->checksum(Split::train, 0, 4);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".features") files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  CHECK(small_rgat(1, kept)->checksum(Split::train, 0, 4) == sum);
  CHECK(small_rgat(1)->checksum(Split::train, 0, 4) == sum);
  std::fstream(files[0], std::ios::in | std::ios::out | std::ios::binary).seekp(1000) << "x";
  CHECK_THROWS_WITH(small_rgat(1, kept)->prepare(), Contains("are damaged"));
}

TEST_CASE("rgat repeats neighbourhoods if asked, and refuses files and sequences") {
  const auto few = small_rgat(1, {.samples = 64});
  CHECK(few->repeats());
  CHECK(few->recipe().target_source.empty());
  CHECK(few->checksum(Split::train, 0, 64) != 0);
  DataChoice files;
  files.train = {"papers.npy"};
  CHECK_THROWS_WITH(make_workload("rgat", "tiny", 1, 0, files),
                    Contains("generated neighbourhoods"));
  CHECK_THROWS_WITH(make_workload("rgat", "tiny", 1, 0, {.vocabulary = 9}),
                    Contains("generated neighbourhoods"));
  CHECK_THROWS_WITH(make_workload("rgat", "tiny", 1, 8), Contains("rgat has no sequences"));
  CHECK_THROWS_WITH(make_workload("rgat", "huge", 1), Contains("rgat has no preset 'huge'"));
}

}  // namespace bench::training
