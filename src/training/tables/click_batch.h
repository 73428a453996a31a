// The click samples of one step or evaluation block, read once: IDs for the tables, the rest for
// the model and the evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/sources/click_source.h"

namespace bench::training {

class ClickBatch {
 public:
  /// The source must outlive this.
  explicit ClickBatch(const ClickSource& source);

  /// Allocates samples first to first + count - 1; read() fills them.
  void begin(Split split, std::uint64_t first, std::int64_t count);
  /// Samples `from` to `to` - 1 of the batch, from 0; threads may read different ones at once.
  /// Throws Error(input) for an ID outside its table.
  void read(std::int64_t from, std::int64_t to);

  /// Whether probability() and main_effects() are known.
  bool has_oracle() const { return source_.has_oracle(); }
  Split split() const { return split_; }
  std::uint64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  /// Index of sample `number` in the batch, from 0; throws Error(internal) if it was not read.
  std::int64_t place(Split split, std::uint64_t number) const;

  /// The first sample that differs from the source's, as text; "" if none does.
  std::string changed() const;

  const float* dense(std::int64_t at) const { return dense_.data() + at * dense_width_; }
  const std::int32_t* ids(std::int64_t at) const { return ids_.data() + at * ids_width_; }
  const float* labels(std::int64_t at) const { return labels_.data() + at; }
  float label(std::int64_t at) const { return *labels(at); }
  /// Of a click, by the oracle; NaN without one. The second: log-odds by main effects alone.
  double probability(std::int64_t at) const { return probability_[static_cast<std::size_t>(at)]; }
  double main_effects(std::int64_t at) const { return main_effects_[static_cast<std::size_t>(at)]; }
  std::int64_t bytes() const;

 private:
  void check_ids(std::int64_t at) const;

  const ClickSource& source_;
  std::int64_t dense_width_, ids_width_;
  Split split_ = Split::train;
  std::uint64_t first_ = 0;
  std::int64_t count_ = 0;
  std::vector<float> dense_ = {}, labels_ = {};
  std::vector<std::int32_t> ids_ = {};
  std::vector<double> probability_ = {}, main_effects_ = {};
};

}  // namespace bench::training
