// A graph of papers, authors, fields and institutes that follows a known law. No edge is stored.
// Every node belongs to one of a few communities; a paper's is its class. The neighbours of a node
// by one relation are functions of the relation, the node, and their number: with the relation's
// strength s a neighbour is of the node's own community, else of any, and it is drawn evenly from
// all nodes of its type and community. A sample draws some of them, without replacement.
//
// Features are a mean that depends on type and community, plus normal noise of deviation 1; of
// unreliable nodes they are noise alone. The last column says whether a node is reliable.
//
// A sampled tree hardly has any node twice, so its nodes are independent given their parents'
// communities, and belief propagation from the leaves to the paper gives the probability of each
// class given all features: the best that any model can know.
//
// Properties of tiny_papers(), evaluation samples 0 to 1023 (verified by a test):
//   the best predictions are right of 88.4 % of the papers, with a log loss of 0.3120; of the nodes
//   of a tree, 0.06 % are in it a second time; 7.4 % of the trees have such nodes
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "training/sources/finite.h"
#include "training/sources/neighbourhood_source.h"

namespace bench::training {

struct PaperGraphOptions {
  NeighbourhoodShape shape = {};
  std::array<std::int64_t, kNodeTypes> nodes = {};  // by type
  /// Of kRelations; 0: its neighbours are any.
  std::array<double, kRelationCount> strengths = {0.7, 0.9, 0.4, 0.0, 0.7, 0.5, 0.4, 0.5};
  double distance = 1.5;     // length of a mean, in deviations of the noise
  double reliable = 0.5;     // probability of a reliable node
  std::int64_t telling = 0;  // columns in which means differ from zero: the first ones
  double held_out = 0.125;   // share of papers that are evaluated and never trained on
  std::uint64_t law = 1;     // of the graph, its features, and the evaluation samples
  std::uint64_t seed = 1;    // of the order of training papers, and their sampled neighbours
};

/// 4 communities of 131,072 papers, 65,536 authors, 16,384 fields and as many institutes; 8
/// columns; fan-outs 4 and 3.
PaperGraphOptions tiny_papers();

/// A node has this many neighbours by each relation, or up to twice as many less one.
inline constexpr std::int64_t kLeastDegree = 16;

class PaperGraph final : public NeighbourhoodSource {
 public:
  /// Throws Error(usage) for no fan-outs or others than 1 to kLeastDegree, fewer than two classes
  /// or more than nodes of a type, 2^31 nodes of a type or more, no telling columns or no other
  /// one, strengths outside [0, 1), and shares outside (0, 1].
  explicit PaperGraph(const PaperGraphOptions& options);

  const NeighbourhoodShape& shape() const override { return options_.shape; }
  /// Endless: papers come back in every epoch, with other neighbours.
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, Neighbourhood& sample) const override;
  NeighbourhoodTruth truth(const Neighbourhood& sample) const override;

  const std::vector<NodeGroup>& groups() const { return groups_; }
  std::int32_t community(std::int32_t node) const {
    return node % static_cast<std::int32_t>(options_.shape.classes);
  }
  /// Number of neighbours, and one of them.
  std::int64_t degree(std::size_t relation, std::int32_t node) const;
  std::int32_t neighbour(std::size_t relation, std::int32_t node, std::int64_t number) const;
  /// `out` has as many elements as the features columns.
  void features(NodeType type, std::int32_t node, std::span<float> out) const;
  /// Of the telling columns of reliable nodes.
  std::span<const float> mean_of(NodeType type, std::int64_t community) const;

 private:
  struct Beliefs;
  void believe(Beliefs& beliefs, std::size_t group, std::int64_t node) const;
  std::vector<double> posterior(const Neighbourhood& sample, int depth, bool alike,
                                bool blind) const;

  PaperGraphOptions options_;
  std::vector<NodeGroup> groups_;
  std::vector<std::vector<std::size_t>> children_;  // groups, by group
  std::vector<float> means_;                        // [type, community, telling column]
  std::vector<double> half_squares_;                // of these: [type, community]
  FiniteOrder training_, evaluation_;               // of papers
};

}  // namespace bench::training
