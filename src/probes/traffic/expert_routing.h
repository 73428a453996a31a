// How many tokens each rank routes to each expert: drawn with a known skew, or recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class ExpertRouting {
 public:
  /// Experts are as popular as their place in a row of all, to the power of -skew (Zipf's law; 0:
  /// equally), in another order in each layer; each sender draws for itself.
  static ExpertRouting drawn(std::int64_t experts, double skew, std::uint64_t seed);
  /// {"experts": 4, "counts": [[10, 0, 3, 3], ...]}: in each row the tokens that one sender routed
  /// to each expert. Sender s has row s modulo the rows, in all layers and micro-batches, as shares
  /// of the tokens it has. Throws Error(input) with `where`.
  static ExpertRouting recorded(std::string_view text, std::int64_t experts,
                                const std::string& where);

  /// Of one micro-batch in one layer, by expert: `choices` in all, and at most `tokens` for one
  /// expert, since a token's choices are different experts.
  std::vector<std::int64_t> counts(std::int64_t layer, std::int64_t micro_batch,
                                   std::int64_t sender, std::int64_t tokens,
                                   std::int64_t choices) const;

 private:
  std::vector<double> shares(std::int64_t layer, std::int64_t micro_batch,
                             std::int64_t sender) const;

  std::int64_t experts_ = 1;
  double skew_ = 0.0;
  std::uint64_t seed_ = 1;
  std::vector<std::vector<double>> recorded_ = {};
};

/// The largest count over the mean; 1 if all are equal or there are none.
double imbalance(const std::vector<std::int64_t>& counts);

}  // namespace bench
