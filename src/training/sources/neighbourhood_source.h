// Sampled neighbourhoods in a graph of papers, authors, fields and institutes, by number: a sample
// is a function of (split, index) alone, so ranks and threads may share one source and read in any
// order. A neighbourhood is a tree: a paper, of each relation some neighbours of it, some of
// theirs, and so on. All samples of a source have trees of one shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/sources/random.h"

namespace bench::training {

enum class NodeType : std::uint8_t { paper, author, field, institute };
inline constexpr std::size_t kNodeTypes = 4;
std::string_view name_of(NodeType type);

/// Nodes of type `of` have neighbours of type `neighbours`.
struct Relation {
  std::string_view name;
  NodeType of, neighbours;
};

inline constexpr std::size_t kRelationCount = 8;
inline constexpr std::array<Relation, kRelationCount> kRelations{{
    {"cited", NodeType::paper, NodeType::paper},
    {"writers", NodeType::paper, NodeType::author},
    {"fields", NodeType::paper, NodeType::field},
    {"listed", NodeType::paper, NodeType::paper},  // next to it in some list
    {"papers", NodeType::author, NodeType::paper},
    {"employers", NodeType::author, NodeType::institute},
    {"articles", NodeType::field, NodeType::paper},
    {"staff", NodeType::institute, NodeType::author},
}};

/// The nodes of a tree that are reached by the same relations. Those of one parent are consecutive,
/// in the order of the parents.
struct NodeGroup {
  std::string name = {};     // the relations: "cited.writers"; "seed" for the first group
  int parent = -1;           // group; -1 for the first
  std::size_t relation = 0;  // in which a node is its parent's neighbour; of the first group unused
  NodeType type = NodeType::paper;
  int depth = 0;
  std::int64_t nodes = 1;
  std::int64_t first = 0;  // number of its first node in the tree
};

/// The groups of trees in which a node at depth d has fan_outs[d] neighbours of each relation, by
/// depth; a parent comes before its children. Throws Error(usage) for a fan-out below one.
std::vector<NodeGroup> node_groups(const std::vector<std::int64_t>& fan_outs);

struct NeighbourhoodShape {
  std::vector<std::int64_t> fan_outs = {};
  std::int64_t classes = 0;  // of papers
  std::int64_t columns = 0;  // of a node's features
};

struct Neighbourhood {
  std::int32_t label = 0;                // the class of the first node
  std::vector<std::int32_t> nodes = {};  // by group; numbers among the nodes of their type
};

/// Probabilities of the classes, given the features of what is named.
struct NeighbourhoodTruth {
  std::vector<double> best = {};      // all nodes: no model can know more
  std::vector<double> one_hop = {};   // the paper and its neighbours
  std::vector<double> features = {};  // the paper alone
  std::vector<double> alike = {};     // all nodes, as if all relations were equally strong
  std::vector<double> blind = {};     // all nodes, as if none said whether it is reliable
};

class NeighbourhoodSource {
 public:
  NeighbourhoodSource() = default;
  NeighbourhoodSource(const NeighbourhoodSource&) = delete;
  NeighbourhoodSource& operator=(const NeighbourhoodSource&) = delete;
  virtual ~NeighbourhoodSource() = default;

  virtual const NeighbourhoodShape& shape() const = 0;
  /// Number of neighbourhoods; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  virtual bool has_oracle() const = 0;
  virtual void read(Split split, std::uint64_t index, Neighbourhood& sample) const = 0;
  /// A function of the nodes' features, and of the source's law.
  virtual NeighbourhoodTruth truth(const Neighbourhood& sample) const = 0;
};

}  // namespace bench::training
