#include "training/sources/token_source.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <vector>

#include "core/error.h"

namespace bench::training {

void check_fits(const TokenSample& sample, int targets, bool has_oracle) {
  const auto expected = static_cast<std::size_t>(targets);
  if (sample.tokens.size() != expected + 1)
    throw Error(ErrorKind::internal, fmt::format("a sequence of {} targets has {} tokens, not {}",
                                                 targets, targets + 1, sample.tokens.size()));
  for (const std::size_t size : {sample.log_probability.size(), sample.classes.size()}) {
    if (size != 0 && size != expected)
      throw Error(ErrorKind::internal, fmt::format("{} values for {} targets", size, targets));
    if (size != 0 && !has_oracle)
      throw Error(ErrorKind::internal, "tokens from files have no known probability");
  }
}

namespace {

/// Counts of tokens and pairs of neighbours.
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
