// Endless histories of a known law. A user has a hidden taste, one of a few, which changes with
// time; an item has a hidden topic, a quality and a popularity (Zipf's law). Items are shown
// without regard to the taste. Of a taste k and an item i,
//   P(action = 1) = sigmoid(bias + affinity(k, topic(i)) + quality(i) + effect(group of the user)).
// Half of the tastes like a topic (+affinity), the others do not (-affinity).
//
// Between two events the taste stays with probability (1 - rate)^(time between them), else a taste
// is drawn from all. Most events follow each other within a session; a session begins after a long
// pause. So the tastes are a hidden Markov chain, and its forward filter gives the probability of
// each action given everything before it: the best that any model can know.
//
// Properties of tiny_tastes(), evaluation histories 0 to 4095 (verified by a test):
//   rate of actions 0.4735, log loss 0.6917 of that rate alone, 0.5422 at best; expected AUC 0.7995
//   at best, 0.7042 as if tastes never changed, 0.5891 without history
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "training/sources/history_source.h"
#include "training/sources/zipf.h"

namespace bench::training {

struct TasteOptions {
  HistoryShape shape = {};
  std::int64_t shortest = 1;  // events of a history: drawn evenly from here to shape.events
  int tastes = 0;             // even
  int topics = 0;
  std::uint64_t law = 1;   // of tastes, items, groups and the evaluation histories
  std::uint64_t seed = 1;  // of training histories
  double exponent = 0.6;   // of the items' popularity
  double bias = -0.2;
  double affinity = 2.0;
  double quality = 0.5;  // deviation over items
  double effect = 0.5;   // deviation over groups
  double rate = 0.015;   // of changes of taste, per unit of time
  double pause = 0.15;   // probability that an event begins a session
};

/// Times between events are 1 to kLongestStep within a session, kShortestPause to kLongestPause
/// before one.
inline constexpr std::int32_t kLongestStep = 3, kShortestPause = 64, kLongestPause = 127;

/// 256 items of 8 topics, 4 tastes, 8 groups, histories of 8 to 32 events.
TasteOptions tiny_tastes();

class TasteModel final : public HistorySource {
 public:
  /// Throws Error(usage) for an odd number of tastes or fewer than two, no topics or groups, fewer
  /// than two items, lengths that are not in order, and probabilities outside [0, 1].
  explicit TasteModel(const TasteOptions& options);

  const HistoryShape& shape() const override { return options_.shape; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, History& history) const override;
  HistoryTruth truth(const History& history) const override;

  int tastes() const { return options_.tastes; }
  /// P(action = 1) of a user of this group and taste.
  double probability(int taste, std::int32_t item, std::int32_t group) const;
  /// That the taste has not been drawn again after this time.
  double stays(std::int32_t time) const { return stays_.at(static_cast<std::size_t>(time)); }

 private:
  std::vector<double> filtered(const History& history, bool changes) const;

  TasteOptions options_;
  Zipf popularity_;
  std::vector<float> quality_;        // of items
  std::vector<std::int32_t> topics_;  // of items
  std::vector<double> effects_;       // of groups
  std::vector<double> affinities_;    // [taste, topic]
  std::vector<double> stays_;         // by time
};

}  // namespace bench::training
