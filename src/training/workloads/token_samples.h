// Samples of a token source as a language model trains on them, and its losses against the source's
// own: what the workloads of language models share.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "training/sources/token_source.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// Fills a micro-batch: inputs[0] with sequences from `first` on, inputs[1] with the tokens that
/// follow theirs, or -1 for given ones; of each the part that the model has.
void read_token_samples(const TokenSource& source, Split split, std::uint64_t first,
                        const Model& model, const Lane& lane);

/// Workload::checksum().
std::uint64_t token_checksum(const TokenSource& source, Split split, std::uint64_t first,
                             std::int64_t count);

/// `full`, or the `asked` tokens of a sample if they are not 0. Throws Error(input) for more than
/// `full` or a single one; `preset` names the model.
std::int64_t checked_sequence(std::int64_t full, const std::string& preset, std::int64_t asked);

/// Sums of losses over evaluation tokens, of the model and of a source that knows its own, by
/// class, without given ones.
class TokenGaps {
 public:
  /// `part`: the tokens of a sample that have losses.
  explicit TokenGaps(const TokenSource& source, const ContextPart& part = {});

  /// Of `count` samples from `first` on; `losses` has one for each token.
  void add(const double* losses, std::uint64_t first, std::int64_t count);
  /// Over the ranks. Call once, before the rest.
  void sum(Group& group);

  double tokens() const { return all()[kCount]; }
  double tokens(TokenClass which) const { return of(which)[kCount]; }
  /// In nats per token; NaN without tokens.
  double gap(TokenClass which) const { return gap_of(of(which)); }
  /// native, floor and gap over all classes.
  Quality quality() const;

 private:
  enum { kLoss, kFloor, kCount };
  using Sums = std::array<double, 3>;
  static double gap_of(const Sums& sums) { return (sums[kLoss] - sums[kFloor]) / sums[kCount]; }
  const Sums& of(TokenClass which) const { return sums_.at(static_cast<std::size_t>(which)); }
  Sums all() const;

  const TokenSource& source_;
  ContextPart part_;
  std::vector<std::int32_t> tokens_ = {};
  std::vector<float> log_probability_ = {};
  std::vector<TokenClass> classes_ = {};
  std::array<Sums, kTokenClasses> sums_ = {};
};

}  // namespace bench::training
