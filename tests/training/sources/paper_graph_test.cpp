// A graph of papers: the posterior against a sum over all communities, the law of neighbours and
// features, and the law's figures.
#include "training/sources/paper_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "training/sources/finite.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

Neighbourhood neighbourhood_of(const NeighbourhoodSource& source, Split split,
                               std::uint64_t index) {
  Neighbourhood sample;
  source.read(split, index, sample);
  return sample;
}

/// Trees of 16 nodes.
PaperGraphOptions little_graph(std::int64_t classes = 3) {
  PaperGraphOptions options = tiny_papers();
  options.shape = {{1, 1}, classes, 4};
  options.nodes = {300, 200, 90, 90};
  options.telling = 3;
  return options;
}

/// The density of a node's features given its community, over that of noise alone.
double density(const PaperGraph& graph, NodeType type, std::int32_t node, int community,
               const PaperGraphOptions& options, bool blind) {
  std::vector<float> x(static_cast<std::size_t>(options.shape.columns));
  graph.features(type, node, x);
  const bool reliable = x.back() == 1.0F;
  double log_ratio = 0.0;
  const auto mean = graph.mean_of(type, community);
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const double value = static_cast<double>(x[k]), m = static_cast<double>(mean[k]);
    log_ratio += (value * value - (value - m) * (value - m)) / 2.0;
  }
  if (blind) return options.reliable * std::exp(log_ratio) + 1.0 - options.reliable;
  return reliable ? std::exp(log_ratio) : 1.0;
}

/// By a sum over the communities of all nodes at most `depth` deep; of a tree that is too large for
/// that, over those of nodes that depend on the paper's: others are a factor that all classes have.
std::vector<double> posterior_by_enumeration(const PaperGraph& graph,
                                             const PaperGraphOptions& options,
                                             const Neighbourhood& sample, int depth,
                                             double strength, bool blind) {
  struct Counted {
    std::size_t parent;  // among those counted
    double strength;
    std::vector<double> densities;
  };
  const auto classes = static_cast<std::size_t>(options.shape.classes);
  const bool every = sample.nodes.size() <= 16;
  std::vector<Counted> counted;
  std::map<std::int64_t, std::size_t> places;  // of the sample's nodes
  std::size_t count = 1;
  for (const NodeGroup& group : graph.groups()) {
    if (group.depth > depth) continue;
    const bool top = group.parent < 0;
    const double s = top ? 0.0 : strength >= 0.0 ? strength : options.strengths.at(group.relation);
    if (!top && !every && s == 0.0) continue;
    for (std::int64_t i = 0; i < group.nodes; ++i) {
      Counted one{0, s, {}};
      if (!top) {
        const NodeGroup& above = graph.groups()[static_cast<std::size_t>(group.parent)];
        const auto parent = places.find(above.first + i / (group.nodes / above.nodes));
        if (parent == places.end()) continue;
        one.parent = parent->second;
      }
      for (std::size_t c = 0; c < classes; ++c)
        one.densities.push_back(density(graph, group.type,
                                        sample.nodes[static_cast<std::size_t>(group.first + i)],
                                        static_cast<int>(c), options, blind));
      places[group.first + i] = counted.size();
      counted.push_back(one);
      count *= classes;
    }
  }
  std::vector<double> sums(classes);
  std::vector<std::size_t> communities(counted.size());
  for (std::size_t state = 0; state < count; ++state) {
    double weight = 1.0;
    std::size_t rest = state;
    for (std::size_t at = 0; at < counted.size(); ++at, rest /= classes) {
      const Counted& one = counted[at];
      communities[at] = rest % classes;
      weight *= one.densities[communities[at]];
      if (at == 0) continue;
      const bool same = communities[at] == communities[one.parent];
      weight *= (same ? one.strength : 0.0) + (1.0 - one.strength) / static_cast<double>(classes);
    }
    sums[communities[0]] += weight;
  }
  double all = 0.0;
  for (const double sum : sums) all += sum;
  for (double& sum : sums) sum /= all;
  return sums;
}

void check_same(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-9));
}

}  // namespace

TEST_CASE("a neighbourhood has the neighbours of each relation, and theirs") {
  const auto groups = node_groups({4, 3});
  REQUIRE(groups.size() == 16);
  CHECK(groups[0].name == "seed");
  CHECK(groups[1].name == "cited");
  CHECK(groups[1].nodes == 4);
  CHECK(groups[5].name == "cited.cited");
  CHECK(groups[5].nodes == 12);
  CHECK(groups[5].parent == 1);
  std::int64_t nodes = 0;
  for (const NodeGroup& group : groups) {
    CHECK(group.first == nodes);
    nodes += group.nodes;
    if (group.parent < 0) continue;
    const Relation& relation = kRelations.at(group.relation);
    CHECK(relation.neighbours == group.type);
    CHECK(relation.of == groups[static_cast<std::size_t>(group.parent)].type);
  }
  CHECK(nodes == 1 + 16 + 132);
  CHECK_THROWS_WITH(node_groups({4, 0}), Contains("a fan-out of 0 at depth 1"));
}

TEST_CASE("belief propagation gives the posterior that a sum over all communities gives") {
  for (const std::int64_t classes : {2, 3}) {
    const PaperGraphOptions options = little_graph(classes);
    const PaperGraph graph(options);
    double mean_strength = 0.0;
    for (const double strength : options.strengths) mean_strength += strength / kRelationCount;
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Neighbourhood sample = neighbourhood_of(graph, Split::train, index);
      REQUIRE(sample.nodes.size() == 16);
      const NeighbourhoodTruth truth = graph.truth(sample);
      const auto sum = [&](int depth, double strength, bool blind) {
        return posterior_by_enumeration(graph, options, sample, depth, strength, blind);
      };
      check_same(truth.features, sum(0, -1.0, false));
      check_same(truth.one_hop, sum(1, -1.0, false));
      if (classes > 2) continue;  // 3^16 communities are too many
      check_same(truth.best, sum(2, -1.0, false));
      check_same(truth.alike, sum(2, mean_strength, false));
      check_same(truth.blind, sum(2, -1.0, true));
    }
  }
}

TEST_CASE("belief propagation gives that posterior of nodes with siblings") {
  // cited, writers, fields, listed, papers, employers, articles, staff; trees of 15 and 17 nodes.
  for (const auto& strengths : {std::array{0.7, 0.0, 0.4, 0.0, 0.0, 0.0, 0.5, 0.0},
                                std::array{0.0, 0.9, 0.4, 0.0, 0.7, 0.5, 0.0, 0.0}}) {
    PaperGraphOptions options = little_graph(2);
    options.shape.fan_outs = {2, 2};
    options.strengths = strengths;
    const PaperGraph graph(options);
    for (std::uint64_t index = 0; index < 3; ++index) {
      const Neighbourhood sample = neighbourhood_of(graph, Split::train, index);
      const NeighbourhoodTruth truth = graph.truth(sample);
      check_same(truth.one_hop, posterior_by_enumeration(graph, options, sample, 1, -1.0, false));
      check_same(truth.best, posterior_by_enumeration(graph, options, sample, 2, -1.0, false));
      check_same(truth.blind, posterior_by_enumeration(graph, options, sample, 2, -1.0, true));
    }
  }
}

TEST_CASE("labels are drawn by the posterior: its log loss is its entropy") {
  PaperGraphOptions weaker = tiny_papers();
  for (double& strength : weaker.strengths) strength /= 2.0;
  const PaperGraph graph(tiny_papers()), other(weaker);
  constexpr std::uint64_t kJudged = 2048;
  std::array<double, 5> sums = {}, squares = {};
  for (std::uint64_t index = 0; index < kJudged; ++index) {
    const Neighbourhood sample = neighbourhood_of(graph, Split::train, index);
    const NeighbourhoodTruth truth = graph.truth(sample), wrong = other.truth(sample);
    const std::array posteriors{&truth.best, &truth.one_hop, &truth.features, &truth.blind,
                                &wrong.best};
    for (std::size_t i = 0; i < posteriors.size(); ++i) {
      const std::vector<double>& p = *posteriors[i];
      double difference = -std::log(p[static_cast<std::size_t>(sample.label)]);
      for (const double one : p) difference += one * std::log(one);
      sums[i] += difference;
      squares[i] += difference * difference;
    }
  }
  const auto errors_from_zero = [&](std::size_t i) {
    const double mean = sums[i] / kJudged, variance = squares[i] / kJudged - mean * mean;
    return std::abs(mean) / std::sqrt(variance / kJudged);
  };
  for (std::size_t i = 0; i < 4; ++i) CHECK(errors_from_zero(i) < 3.0);
  CHECK(errors_from_zero(4) > 6.0);  // of another law
}

TEST_CASE("neighbours are of their node's community as often as their relation says") {
  const PaperGraphOptions options = tiny_papers();
  const PaperGraph graph(options);
  for (std::size_t relation = 0; relation < kRelationCount; ++relation) {
    INFO(kRelations[relation].name);
    double same = 0.0, all = 0.0;
    for (std::int32_t node = 0; node < 1000; ++node) {
      const std::int64_t degree = graph.degree(relation, node);
      CHECK((degree >= kLeastDegree && degree < 2 * kLeastDegree));
      for (std::int64_t i = 0; i < degree; ++i, all += 1.0) {
        const std::int32_t other = graph.neighbour(relation, node, i);
        const auto type = static_cast<std::size_t>(kRelations[relation].neighbours);
        REQUIRE((other >= 0 && other < options.nodes[type]));
        same += graph.community(other) == graph.community(node) ? 1.0 : 0.0;
      }
    }
    const double strength = options.strengths[relation];
    CHECK(same / all == Approx(strength + (1.0 - strength) / 4.0).margin(0.015));
  }
}

TEST_CASE("features are the mean of type and community plus unit noise, if they are reliable") {
  const PaperGraphOptions options = tiny_papers();
  const PaperGraph graph(options);
  for (const NodeType type : {NodeType::paper, NodeType::institute}) {
    double reliable = 0.0, square = 0.0, lacks = 0.0, count = 0.0;
    std::vector<float> x(8);
    for (std::int32_t node = 0; node < 4000; ++node) {
      graph.features(type, node, x);
      const auto mean = graph.mean_of(type, graph.community(node));
      REQUIRE((x.back() == 0.0F || x.back() == 1.0F));
      reliable += static_cast<double>(x.back());
      for (std::size_t k = 0; k < mean.size(); ++k, count += 1.0) {
        const double noise = static_cast<double>(x[k] - x.back() * mean[k]);
        square += noise * noise;
        lacks += noise;
      }
    }
    CHECK(reliable / 4000.0 == Approx(0.5).margin(0.03));
    CHECK(square / count == Approx(1.0).margin(0.03));
    CHECK(lacks / count == Approx(0.0).margin(0.02));
  }
}

TEST_CASE("neighbourhoods are functions of seed and number, of distinct neighbours, and disjoint") {
  const PaperGraphOptions options = tiny_papers();
  const PaperGraph graph(options), again(options);
  PaperGraphOptions other = options;
  other.seed = 2;
  const PaperGraph another(other);
  const std::int64_t held_out = options.nodes[0] / 8, trained = options.nodes[0] - held_out;
  for (const std::uint64_t index : {0U, 7U, 1000U}) {
    const Neighbourhood sample = neighbourhood_of(graph, Split::train, index);
    CHECK(sample.nodes == neighbourhood_of(again, Split::train, index).nodes);
    CHECK(sample.nodes != neighbourhood_of(another, Split::train, index).nodes);
    CHECK(neighbourhood_of(graph, Split::evaluation, index).nodes ==
          neighbourhood_of(another, Split::evaluation, index).nodes);
    CHECK(sample.label == graph.community(sample.nodes[0]));
    CHECK(sample.nodes[0] < trained);
    CHECK(neighbourhood_of(graph, Split::evaluation, index).nodes[0] >= trained);
    for (std::size_t at = 1; at < graph.groups().size(); ++at) {
      const NodeGroup& group = graph.groups()[at];
      const NodeGroup& parent = graph.groups()[static_cast<std::size_t>(group.parent)];
      const std::int64_t fan_out = group.nodes / parent.nodes;
      for (std::int64_t i = 0; i < parent.nodes; ++i) {
        const std::int32_t node = sample.nodes[static_cast<std::size_t>(parent.first + i)];
        // Each is a neighbour, and none is drawn twice: all numbers are different ones.
        std::multiset<std::int32_t> left;
        for (std::int64_t k = 0; k < graph.degree(group.relation, node); ++k)
          left.insert(graph.neighbour(group.relation, node, k));
        for (std::int64_t j = 0; j < fan_out; ++j) {
          const auto found =
              left.find(sample.nodes[static_cast<std::size_t>(group.first + i * fan_out + j)]);
          REQUIRE(found != left.end());
          left.erase(found);
        }
      }
    }
  }
  // A paper comes back in the next epoch, with other neighbours.
  const Neighbourhood first = neighbourhood_of(graph, Split::train, 3);
  for (std::uint64_t index = 0; index < static_cast<std::uint64_t>(trained); ++index) {
    const auto next = static_cast<std::uint64_t>(trained) + index;
    const Neighbourhood sample = neighbourhood_of(graph, Split::train, next);
    if (sample.nodes[0] != first.nodes[0]) continue;
    CHECK(sample.nodes != first.nodes);
    return;
  }
  FAIL("paper " << first.nodes[0] << " does not come back");
}

TEST_CASE("papers of tiny have the figures that the header states") {
  const PaperGraph graph(tiny_papers());
  double right = 0.0, loss = 0.0, repeated = 0.0, with_any = 0.0, nodes = 0.0;
  constexpr std::uint64_t kJudged = 1024;
  for (std::uint64_t index = 0; index < kJudged; ++index) {
    const Neighbourhood sample = neighbourhood_of(graph, Split::evaluation, index);
    const std::vector<double> best = graph.truth(sample).best;
    const auto label = static_cast<std::size_t>(sample.label);
    loss -= std::log(best[label]);
    right += std::ranges::max_element(best) == best.begin() + sample.label ? 1.0 : 0.0;
    std::set<std::pair<NodeType, std::int32_t>> seen;
    double twice = 0.0;
    for (const NodeGroup& group : graph.groups())
      for (std::int64_t i = 0; i < group.nodes; ++i, nodes += 1.0)
        if (!seen.insert({group.type, sample.nodes[static_cast<std::size_t>(group.first + i)]})
                 .second)
          twice += 1.0;
    repeated += twice;
    with_any += twice > 0.0 ? 1.0 : 0.0;
  }
  INFO("repeated " << repeated / nodes << " in " << with_any / kJudged);
  CHECK(right / kJudged == Approx(0.8838).margin(0.0005));
  CHECK(loss / kJudged == Approx(0.3120).margin(0.00005));
  CHECK(repeated / nodes < 0.001);
  CHECK(with_any / kJudged < 0.1);
}

TEST_CASE("a graph of papers refuses sizes and shares that make no sense") {
  const auto refused = [](const auto& change) {
    PaperGraphOptions options = little_graph();
    change(options);
    return [options] { PaperGraph{options}; };
  };
  CHECK_THROWS_WITH(refused([](auto& o) { o.shape.fan_outs = {}; })(),
                    Contains("without fan-outs"));
  CHECK_THROWS_WITH(refused([](auto& o) {
                      o.shape.fan_outs = {4, 17, 3};
                    })(),
                    Contains("a fan-out of 17 at depth 2"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.nodes[1] = std::int64_t{1} << 31; })(),
                    Contains("2147483648 nodes of a type"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.shape.classes = 100; })(), Contains("100 classes"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.telling = 4; })(), Contains("4 telling columns of 4"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.strengths[2] = 1.0; })(),
                    Contains("strengths of 0 to"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.reliable = 0.0; })(), Contains("share of 0"));
  CHECK_THROWS_WITH(refused([](auto& o) { o.held_out = 1.0; })(), Contains("1 of the papers"));
}

}  // namespace bench::training
