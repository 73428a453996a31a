#include "training/sources/paper_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "training/sources/gaussian.h"

namespace bench::training {
namespace {

/// Streams of the law; a relation or type is added to those that have one for each.
enum PaperLaw : std::uint64_t { kDegreeLaw = 16, kEdgeLaw = 32, kMeanLaw = 48, kNoiseLaw = 64 };
constexpr std::uint64_t kReliableLaw = 80;
constexpr std::int64_t kMostNodes = std::numeric_limits<std::int32_t>::max();

void check_papers(const PaperGraphOptions& options) {
  const NeighbourhoodShape& shape = options.shape;
  const auto fits = [](std::int64_t n) { return n >= 1 && n <= kLeastDegree; };
  const auto unfit = std::ranges::find_if_not(shape.fan_outs, fits);
  if (shape.fan_outs.empty() || unfit != shape.fan_outs.end())
    throw Error(ErrorKind::usage,
                shape.fan_outs.empty() ? "a graph without fan-outs"
                                       : fmt::format("a fan-out of {} at depth {}", *unfit,
                                                     unfit - shape.fan_outs.begin() + 1),
                fmt::format("use fan-outs from 1 to {}", kLeastDegree));
  if (const std::int64_t nodes = std::ranges::max(options.nodes); nodes > kMostNodes)
    throw Error(ErrorKind::usage, fmt::format("{} nodes of a type", nodes),
                fmt::format("use {} or fewer: numbers of nodes have 32 bits", kMostNodes));
  const std::int64_t fewest = std::ranges::min(options.nodes);
  if (shape.classes < 2 || fewest < shape.classes)
    throw Error(ErrorKind::usage,
                fmt::format("{} classes and types of {} nodes or more", shape.classes, fewest),
                "use two classes or more, and a node of each for every type");
  if (options.telling < 1 || options.telling >= shape.columns)
    throw Error(ErrorKind::usage,
                fmt::format("{} telling columns of {}", options.telling, shape.columns),
                "use one telling column or more, and another one");
  const auto strong = [](double s) { return s >= 0.0 && s < 1.0; };
  if (!std::ranges::all_of(options.strengths, strong) || !strong(1.0 - options.reliable))
    throw Error(ErrorKind::usage,
                fmt::format("strengths of {} to {}, and a share of {} of reliable nodes",
                            std::ranges::min(options.strengths),
                            std::ranges::max(options.strengths), options.reliable),
                "use strengths from 0 to below 1, and a share above 0");
  if (!(options.held_out > 0.0 && options.held_out < 1.0))
    throw Error(ErrorKind::usage, fmt::format("{} of the papers held out", options.held_out),
                "use a share between 0 and 1");
}

std::uint64_t papers_held_out(const PaperGraphOptions& options) {
  check_papers(options);
  const auto papers = static_cast<double>(options.nodes[0]);
  return static_cast<std::uint64_t>(std::max(1.0, std::floor(papers * options.held_out)));
}

std::int32_t drawn_below(std::uint64_t bits, std::int64_t bound) {
  return static_cast<std::int32_t>(
      below(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bound)));
}

/// Probabilities from their logarithms, up to a common term.
void normalize(std::vector<double>& logs) {
  const double most = *std::ranges::max_element(logs);
  double sum = 0.0;
  for (double& one : logs) sum += one = std::exp(one - most);
  for (double& one : logs) one /= sum;
}

}  // namespace

PaperGraphOptions tiny_papers() {
  PaperGraphOptions options;
  options.shape = {{4, 3}, 4, 8};
  options.nodes = {1 << 17, 1 << 16, 1 << 14, 1 << 14};
  options.telling = 7;
  options.distance = 0.8;
  return options;
}

PaperGraph::PaperGraph(const PaperGraphOptions& options)
    : options_(options),
      training_(static_cast<std::uint64_t>(options.nodes[0]) - papers_held_out(options),
                options.seed),
      evaluation_(papers_held_out(options), options.law) {
  groups_ = node_groups(options_.shape.fan_outs);
  children_.resize(groups_.size());
  for (std::size_t group = 1; group < groups_.size(); ++group)
    children_[static_cast<std::size_t>(groups_[group].parent)].push_back(group);
  const std::int64_t count = options_.shape.classes * options_.telling;
  const double deviation = options_.distance / std::sqrt(static_cast<double>(options_.telling));
  for (std::uint64_t type = 0; type < kNodeTypes; ++type)
    for (std::int64_t i = 0; i < count; ++i)
      means_.push_back(
          static_cast<float>(deviation) *
          normal(random_stream(options_.law, kMeanLaw + type), static_cast<std::uint64_t>(i)));
  for (std::size_t first = 0; first < means_.size();
       first += static_cast<std::size_t>(options_.telling)) {
    const auto mean = std::span(means_).subspan(first, static_cast<std::size_t>(options_.telling));
    double square = 0.0;
    for (const float x : mean) square += static_cast<double>(x) * static_cast<double>(x);
    half_squares_.push_back(square / 2.0);
  }
}

std::span<const float> PaperGraph::mean_of(NodeType type, std::int64_t community) const {
  const std::int64_t row = static_cast<std::int64_t>(type) * options_.shape.classes + community;
  return std::span(means_).subspan(static_cast<std::size_t>(row * options_.telling),
                                   static_cast<std::size_t>(options_.telling));
}

std::int64_t PaperGraph::degree(std::size_t relation, std::int32_t node) const {
  const RandomStream stream = random_stream(options_.law, kDegreeLaw + relation);
  return kLeastDegree + drawn_below(stream.bits(static_cast<std::uint64_t>(node)), kLeastDegree);
}

std::int32_t PaperGraph::neighbour(std::size_t relation, std::int32_t node,
                                   std::int64_t number) const {
  const RandomStream stream = random_stream(options_.law, kEdgeLaw + relation);
  const std::int64_t classes = options_.shape.classes;
  const std::uint64_t word =
      2 * (static_cast<std::uint64_t>(node) * 2 * static_cast<std::uint64_t>(kLeastDegree) +
           static_cast<std::uint64_t>(number));
  const std::uint64_t member = stream.bits(word + 1);
  const std::int32_t other = uniform(stream.bits(word)) < options_.strengths[relation]
                                 ? community(node)
                                 : drawn_below(member << 32, classes);
  const std::int64_t of_type =
      options_.nodes[static_cast<std::size_t>(kRelations[relation].neighbours)];
  return drawn_below(member, of_type / classes) * static_cast<std::int32_t>(classes) + other;
}

void PaperGraph::features(NodeType type, std::int32_t node, std::span<float> out) const {
  const auto of_type = static_cast<std::uint64_t>(type);
  const auto number = static_cast<std::uint64_t>(node);
  const RandomStream noise = random_stream(options_.law, kNoiseLaw + of_type);
  const RandomStream states = random_stream(options_.law, kReliableLaw + of_type);
  const bool reliable = uniform(states.bits(number)) < options_.reliable;
  const std::size_t last = out.size() - 1;
  const std::uint64_t pairs = (last + 1) / 2;
  for (std::size_t column = 0; column < last; column += 2) {
    const auto [a, b] = gaussian_pair(noise, number * pairs + column / 2);
    out[column] = static_cast<float>(a);
    if (column + 1 < last) out[column + 1] = static_cast<float>(b);
  }
  out[last] = reliable ? 1.0F : 0.0F;
  if (!reliable) return;
  const auto mean = mean_of(type, community(node));
  for (std::size_t column = 0; column < mean.size(); ++column) out[column] += mean[column];
}

void PaperGraph::read(Split split, std::uint64_t index, Neighbourhood& sample) const {
  const bool trains = split == Split::train;
  const RandomStream draws = sample_stream(trains ? options_.seed : options_.law, split, index);
  const std::uint64_t paper =
      trains ? training_.at(index) : training_.size() + evaluation_.at(index);
  sample.nodes.resize(static_cast<std::size_t>(groups_.back().first + groups_.back().nodes));
  sample.nodes[0] = static_cast<std::int32_t>(paper);
  sample.label = community(sample.nodes[0]);
  std::uint64_t word = 0;
  std::array<std::int64_t, kLeastDegree> numbers = {};  // drawn for one node
  for (std::size_t at = 1; at < groups_.size(); ++at) {
    const NodeGroup& group = groups_[at];
    const NodeGroup& parent = groups_[static_cast<std::size_t>(group.parent)];
    const std::int64_t fan_out = group.nodes / parent.nodes;
    for (std::int64_t i = 0; i < group.nodes; ++i) {
      const std::int32_t node = sample.nodes[static_cast<std::size_t>(parent.first + i / fan_out)];
      const std::int64_t count = i % fan_out;  // drawn before
      // Floyd's: the next of numbers 0 to `last`, and if that is taken, `last`.
      const std::int64_t last = degree(group.relation, node) - fan_out + count;
      std::int64_t number = drawn_below(draws.bits(word++), last + 1);
      const auto drawn = std::span(numbers).first(static_cast<std::size_t>(count));
      if (std::ranges::find(drawn, number) != drawn.end()) number = last;
      numbers[static_cast<std::size_t>(count)] = number;
      sample.nodes[static_cast<std::size_t>(group.first + i)] =
          neighbour(group.relation, node, number);
    }
  }
}

/// What one posterior is computed with.
struct PaperGraph::Beliefs {
  const Neighbourhood& sample;
  int depth;  // of the deepest nodes that count
  bool blind;
  std::array<double, kRelationCount> strengths;
  std::vector<float> features;
  std::vector<std::vector<double>> logs;  // by depth: of the communities of a node there
};

/// Leaves in beliefs.logs[its depth] the logarithms of the probabilities of what is seen at the
/// node and below it, given each of its communities, up to a common term.
void PaperGraph::believe(Beliefs& beliefs, std::size_t group, std::int64_t node) const {
  const NodeGroup& of = groups_[group];
  std::vector<double>& logs = beliefs.logs[static_cast<std::size_t>(of.depth)];
  features(of.type, beliefs.sample.nodes[static_cast<std::size_t>(of.first + node)],
           beliefs.features);
  const auto telling = static_cast<std::size_t>(options_.telling);
  const bool reliable = beliefs.features.back() > 0.5F;
  for (std::size_t c = 0; c < logs.size(); ++c) {
    logs[c] = 0.0;
    if (!reliable && !beliefs.blind) continue;
    const auto mean = mean_of(of.type, static_cast<std::int64_t>(c));
    double product = 0.0;
    for (std::size_t k = 0; k < telling; ++k)
      product += static_cast<double>(beliefs.features[k]) * static_cast<double>(mean[k]);
    logs[c] = product - half_squares_[static_cast<std::size_t>(of.type) * logs.size() + c];
    if (beliefs.blind)
      logs[c] = std::log(options_.reliable * std::exp(logs[c]) + 1.0 - options_.reliable);
  }
  if (of.depth == beliefs.depth) return;
  for (const std::size_t child : children_[group]) {
    const double strength = beliefs.strengths[groups_[child].relation];
    if (strength == 0.0) continue;
    std::vector<double>& below = beliefs.logs[static_cast<std::size_t>(of.depth) + 1];
    const std::int64_t fan_out = groups_[child].nodes / of.nodes;
    for (std::int64_t j = 0; j < fan_out; ++j) {
      believe(beliefs, child, node * fan_out + j);
      normalize(below);
      const double any = (1.0 - strength) / static_cast<double>(below.size());
      for (std::size_t c = 0; c < logs.size(); ++c) logs[c] += std::log(strength * below[c] + any);
    }
  }
}

std::vector<double> PaperGraph::posterior(const Neighbourhood& sample, int depth, bool alike,
                                          bool blind) const {
  Beliefs beliefs{sample, depth, blind, options_.strengths, {}, {}};
  if (alike)
    beliefs.strengths.fill(
        std::accumulate(options_.strengths.begin(), options_.strengths.end(), 0.0) /
        static_cast<double>(kRelationCount));
  beliefs.features.resize(static_cast<std::size_t>(options_.shape.columns));
  beliefs.logs.assign(static_cast<std::size_t>(depth) + 1,
                      std::vector<double>(static_cast<std::size_t>(options_.shape.classes)));
  believe(beliefs, 0, 0);
  normalize(beliefs.logs[0]);
  return beliefs.logs[0];
}

NeighbourhoodTruth PaperGraph::truth(const Neighbourhood& sample) const {
  const auto depth = static_cast<int>(options_.shape.fan_outs.size());
  return {posterior(sample, depth, false, false), posterior(sample, 1, false, false),
          posterior(sample, 0, false, false), posterior(sample, depth, true, false),
          posterior(sample, depth, false, true)};
}

}  // namespace bench::training
