#include "training/sources/token_baselines.h"

#include <cmath>
#include <unordered_map>
#include <vector>

namespace bench::training {
namespace {

class Counts {
 public:
  explicit Counts(int vocabulary) : vocabulary_(static_cast<std::size_t>(vocabulary)) {
    targets_.assign(vocabulary_, 0);
    contexts_.assign(vocabulary_, 0);
  }

  void add(std::int32_t context, std::int32_t target) {
    ++total_;
    ++targets_[static_cast<std::size_t>(target)];
    ++contexts_[static_cast<std::size_t>(context)];
    ++pairs_[pair(context, target)];
  }
  double unigram(std::int32_t target) const {
    return (targets_[static_cast<std::size_t>(target)] + 1.0 / static_cast<double>(vocabulary_)) /
           (total_ + 1);
  }
  double bigram(std::int32_t context, std::int32_t target) const {
    const auto found = pairs_.find(pair(context, target));
    const double seen = found == pairs_.end() ? 0 : found->second;
    return (seen + unigram(target)) / (contexts_[static_cast<std::size_t>(context)] + 1);
  }

 private:
  static std::uint64_t pair(std::int32_t context, std::int32_t target) {
    return static_cast<std::uint64_t>(context) << 32 | static_cast<std::uint32_t>(target);
  }

  std::size_t vocabulary_;
  double total_ = 0;
  std::vector<double> targets_, contexts_;
  std::unordered_map<std::uint64_t, double> pairs_ = {};
};

template <class Visit>
void for_each_target(const TokenSource& source, Split split, std::uint64_t samples, Visit visit) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(source.targets()) + 1);
  for (std::uint64_t index = 0; index < samples; ++index) {
    source.read(split, index, {.tokens = tokens});
    for (std::size_t t = 1; t < tokens.size(); ++t) visit(tokens[t - 1], tokens[t]);
  }
}

}  // namespace

TokenFloor floor_of(const TokenSource& source, std::uint64_t samples) {
  const auto targets = static_cast<std::size_t>(source.targets());
  std::vector<std::int32_t> tokens(targets + 1);
  std::vector<float> log_probability(targets);
  std::vector<TokenClass> classes(targets);
  TokenFloor floor;
  for (std::uint64_t index = 0; index < samples; ++index) {
    source.read(Split::evaluation, index, {tokens, log_probability, classes});
    for (std::size_t t = 0; t < targets; ++t) {
      const auto which = static_cast<std::size_t>(classes[t]);
      floor.by_class.at(which) -= log_probability[t];
      ++floor.share.at(which);
    }
  }
  const double all = static_cast<double>(samples) * static_cast<double>(targets);
  for (std::size_t c = 0; c < floor.share.size(); ++c) {
    floor.mean += floor.by_class.at(c) / all;
    if (floor.share.at(c) > 0) floor.by_class.at(c) /= floor.share.at(c);
    floor.share.at(c) /= all;
  }
  return floor;
}

TokenBaselines baselines_of(const TokenSource& source, std::uint64_t counted,
                            std::uint64_t judged) {
  Counts counts(source.vocabulary());
  for_each_target(source, Split::train, counted,
                  [&](std::int32_t a, std::int32_t b) { counts.add(a, b); });
  TokenBaselines losses;
  for_each_target(source, Split::evaluation, judged, [&](std::int32_t a, std::int32_t b) {
    losses.unigram -= std::log(counts.unigram(b));
    losses.bigram -= std::log(counts.bigram(a, b));
  });
  const double all = static_cast<double>(judged) * source.targets();
  return {std::log(source.vocabulary()), losses.unigram / all, losses.bigram / all};
}

}  // namespace bench::training
