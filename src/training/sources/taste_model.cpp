#include "training/sources/taste_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace bench::training {
namespace {

/// Streams of the law.
enum TasteLaw : std::uint64_t { kItemLaw = 1, kGroupLaw, kTopicLaw };
/// Numbers of a sample's stream: first those of the user, then kEventWords for each event.
enum HistoryWord : std::uint64_t { kGroupWord, kLengthWord, kFirstTasteWord, kHistoryWords };
enum EventWord : std::uint64_t {
  kShownWord,
  kPauseWord,
  kStepWord,
  kStayWord,
  kNextTasteWord,
  kActionWord,
  kEventWords
};

void check_tastes(const TasteOptions& options) {
  const auto share = [](double p) { return p >= 0.0 && p <= 1.0; };
  if (options.tastes < 2 || options.tastes % 2 != 0 || options.topics < 1 ||
      options.shape.groups < 1 || options.shape.items < 2)
    throw Error(
        ErrorKind::usage,
        fmt::format("{} tastes, {} topics, {} groups and {} items", options.tastes, options.topics,
                    options.shape.groups, options.shape.items),
        "use an even number of tastes, two items or more, and a topic and a group at least");
  if (options.shortest < 1 || options.shortest > options.shape.events)
    throw Error(ErrorKind::usage,
                fmt::format("histories of {} to {} events", options.shortest, options.shape.events),
                "use lengths from 1 on, the shortest first");
  if (!share(options.rate) || !share(options.pause))
    throw Error(ErrorKind::usage,
                fmt::format("a rate of {} and pauses of {}", options.rate, options.pause),
                "use probabilities from 0 to 1");
}

std::uint32_t below_of(std::uint64_t bits, std::int64_t bound) {
  return below(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bound));
}

}  // namespace

TasteOptions tiny_tastes() {
  TasteOptions options;
  options.shape = {32, 256, 8};
  options.shortest = 8;
  options.tastes = 4;
  options.topics = 8;
  return options;
}

TasteModel::TasteModel(const TasteOptions& options)
    : options_(options),
      popularity_(static_cast<std::uint32_t>(std::max<std::int64_t>(options.shape.items, 2)),
                  options.exponent) {
  check_tastes(options_);
  const auto law = [&](std::uint64_t what) { return random_stream(options_.law, what); };
  for (std::int64_t item = 0; item < options_.shape.items; ++item) {
    const auto i = static_cast<std::uint64_t>(item);
    quality_.push_back(static_cast<float>(options_.quality) * normal(law(kItemLaw), 2 * i));
    topics_.push_back(
        static_cast<std::int32_t>(below_of(law(kItemLaw).bits(6 * i + 3), options_.topics)));
  }
  for (std::int64_t group = 0; group < options_.shape.groups; ++group)
    effects_.push_back(options_.effect * normal(law(kGroupLaw), static_cast<std::uint64_t>(group)));
  const auto tastes = static_cast<std::size_t>(options_.tastes);
  const auto topics = static_cast<std::size_t>(options_.topics);
  affinities_.assign(tastes * topics, -options_.affinity);
  std::vector<std::size_t> order(tastes);
  for (std::size_t topic = 0; topic < topics; ++topic) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = tastes - 1; k > 0; --k)
      std::swap(order[k], order[below_of(law(kTopicLaw).bits(topic * tastes + k),
                                         static_cast<std::int64_t>(k) + 1)]);
    for (std::size_t k = 0; k < tastes / 2; ++k)
      affinities_[order[k] * topics + topic] = options_.affinity;
  }
  // By multiplication: the powers of C libraries differ in the last bit.
  double stays = 1.0;
  for (std::int32_t time = 0; time <= kLongestPause; ++time, stays *= 1.0 - options_.rate)
    stays_.push_back(stays);
}

double TasteModel::probability(int taste, std::int32_t item, std::int32_t group) const {
  const auto i = static_cast<std::size_t>(item);
  const std::size_t cell =
      static_cast<std::size_t>(taste) * static_cast<std::size_t>(options_.topics) +
      static_cast<std::size_t>(topics_[i]);
  const double score = options_.bias + affinities_[cell] + static_cast<double>(quality_[i]) +
                       effects_[static_cast<std::size_t>(group)];
  return 1.0 / (1.0 + std::exp(-score));
}

void TasteModel::read(Split split, std::uint64_t index, History& history) const {
  const RandomStream stream =
      sample_stream(split == Split::train ? options_.seed : options_.law, split, index);
  history.group =
      static_cast<std::int32_t>(below_of(stream.bits(kGroupWord), options_.shape.groups));
  const std::int64_t lengths = options_.shape.events - options_.shortest + 1;
  const auto length = static_cast<std::size_t>(
      options_.shortest + std::int64_t{below_of(stream.bits(kLengthWord), lengths)});
  history.items.resize(length);
  history.actions.resize(length);
  history.times.resize(length);
  auto taste = static_cast<int>(below_of(stream.bits(kFirstTasteWord), options_.tastes));
  const ZipfView popularity = popularity_.view();
  for (std::size_t event = 0; event < length; ++event) {
    const auto bits = [&, first = kHistoryWords + event * kEventWords](std::uint64_t word) {
      return stream.bits(first + word);
    };
    std::int32_t time = 0;
    if (event > 0) {
      const bool pause = uniform(bits(kPauseWord)) < options_.pause;
      const std::int32_t step =
          pause ? kShortestPause + static_cast<std::int32_t>(below_of(
                                       bits(kStepWord), kLongestPause - kShortestPause + 1))
                : 1 + static_cast<std::int32_t>(below_of(bits(kStepWord), kLongestStep));
      if (uniform(bits(kStayWord)) >= stays(step))
        taste = static_cast<int>(below_of(bits(kNextTasteWord), options_.tastes));
      time = history.times[event - 1] + step;
    }
    history.times[event] = time;
    history.items[event] = static_cast<std::int32_t>(popularity.draw(bits(kShownWord)));
    const double p = probability(taste, history.items[event], history.group);
    history.actions[event] = uniform(bits(kActionWord)) < p ? 1 : 0;
  }
}

std::vector<double> TasteModel::filtered(const History& history, bool changes) const {
  const auto tastes = static_cast<std::size_t>(options_.tastes);
  const double even = 1.0 / static_cast<double>(tastes);
  std::vector<double> weights(tastes, even), of_taste(tastes), best;
  for (std::size_t event = 0; event < history.length(); ++event) {
    if (changes && event > 0) {
      const double stay = stays(history.times[event] - history.times[event - 1]);
      for (double& weight : weights) weight = stay * weight + (1.0 - stay) * even;
    }
    double p = 0.0;
    for (std::size_t k = 0; k < tastes; ++k) {
      of_taste[k] = probability(static_cast<int>(k), history.items[event], history.group);
      p += weights[k] * of_taste[k];
    }
    best.push_back(p);
    const bool acted = history.actions[event] == 1;
    for (std::size_t k = 0; k < tastes; ++k)
      weights[k] *= acted ? of_taste[k] / p : (1.0 - of_taste[k]) / (1.0 - p);
  }
  return best;
}

HistoryTruth TasteModel::truth(const History& history) const {
  HistoryTruth truth{filtered(history, true), {}, filtered(history, false)};
  for (const std::int32_t item : history.items) {
    double p = 0.0;
    for (int k = 0; k < options_.tastes; ++k) p += probability(k, item, history.group);
    truth.without_history.push_back(p / options_.tastes);
  }
  return truth;
}

}  // namespace bench::training
