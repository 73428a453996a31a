// Click logs for recommendation models, by number: a sample is a function of (split, index) alone,
// so ranks and threads may share one source and read in any order. Generated sources never repeat a
// sample and know the probability of each click, from which the best attainable AUC follows.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "training/sources/random.h"

namespace bench::training {

struct ClickShape {
  int dense = 13;                       // dense features
  std::vector<std::int64_t> rows = {};  // of each table; IDs are smaller
  std::vector<int> lookups = {};        // IDs of each table in a sample ("multi-hot size")

  /// Of one sample, over all tables.
  int ids() const;
};

struct ClickSample {
  std::span<float> dense;       // ClickShape::dense
  std::span<std::int32_t> ids;  // ClickShape::ids(), table by table
  float label = 0;              // 1: a click
  /// Of a click, given the features; NaN without an oracle.
  double probability = std::numeric_limits<double>::quiet_NaN();
  /// Log-odds without interactions: the best score of a model that knows only main effects.
  double main_effects = std::numeric_limits<double>::quiet_NaN();
};

class ClickSource {
 public:
  ClickSource() = default;
  ClickSource(const ClickSource&) = delete;
  ClickSource& operator=(const ClickSource&) = delete;
  virtual ~ClickSource() = default;

  virtual const ClickShape& shape() const = 0;
  /// Number of samples; none if endless.
  virtual std::optional<std::uint64_t> size(Split split) const = 0;
  virtual bool has_oracle() const = 0;
  /// Fills the spans and sets the other members. Throws Error(internal) for spans of other lengths
  /// or an index past the end, Error(input) for invalid contents of a file.
  virtual void read(Split split, std::uint64_t index, ClickSample& sample) const = 0;
};

/// Whether every table has 1 to 2^31 - 1 rows, so that ids fit into int32.
bool rows_fit(std::span<const std::int64_t> rows);

/// Throws Error(internal) unless the sample's spans have the shape's sizes.
void check_fits(const ClickSample& sample, const ClickShape& shape);
/// Throws Error(internal) unless `index` is below the number of samples.
void check_index(std::uint64_t index, std::uint64_t samples);

/// Click logs in files: one to train on and, optionally, one to evaluate on. An Opened file has
/// size() and read(index, sample, shape).
template <class Opened>
class ClickFiles : public ClickSource {
 public:
  const ClickShape& shape() const override { return shape_; }
  std::optional<std::uint64_t> size(Split split) const override {
    if (split == Split::train) return train_.size();
    return evaluation_ ? evaluation_->size() : 0;
  }
  bool has_oracle() const override { return false; }
  void read(Split split, std::uint64_t index, ClickSample& sample) const override {
    check_fits(sample, shape_);
    check_index(index, *size(split));
    (split == Split::train ? train_ : *evaluation_).read(index, sample, shape_);
  }

 protected:
  explicit ClickFiles(Opened train) : train_(std::move(train)) {}

  ClickShape shape_ = {};
  Opened train_;
  std::optional<Opened> evaluation_ = {};
};

}  // namespace bench::training
