#include "training/sources/click_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr std::uint64_t kWeights =
    ~std::uint64_t{0};  // a stream different from those of (table, id)

constexpr std::uint32_t kFrequent = 1024;  // cached rows per table: they fit into the level 2 cache

/// The cardinalities of Criteo's terabyte log as MLPerf trains on it (DLRM-DCNv2's README).
constexpr std::array<std::int64_t, 26> kCriteoRows = {
    40000000, 39060,    17295,    7424,     20265,  3,     7122, 1543, 63,
    40000000, 3067956,  405282,   10,       2209,   11938, 155,  4,    976,
    14,       40000000, 40000000, 40000000, 590152, 12973, 108,  36};
constexpr std::array<int, 26> kMultiHot = {3, 2, 1, 2, 6, 1, 1,  1,   1,  7,  3, 8, 1,
                                           6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};

ClickShape criteo_shape(std::int64_t most_rows, bool multi_hot) {
  ClickShape shape;
  for (const std::int64_t rows : kCriteoRows) shape.rows.push_back(std::min(rows, most_rows));
  shape.lookups.assign(kMultiHot.begin(), kMultiHot.end());
  if (!multi_hot) shape.lookups.assign(kMultiHot.size(), 1);
  return shape;
}

/// Near the golden section of `rows`, and without a common divisor: r -> r * stride is one-to-one.
std::uint32_t stride_for(std::uint32_t rows) {
  auto stride = static_cast<std::uint32_t>(rows * 0.6180339887);
  while (std::gcd(stride, rows) != 1) ++stride;
  return stride;
}

void check_settings(const ClickShape& shape) {
  if (shape.rows.empty() || shape.rows.size() != shape.lookups.size())
    throw Error(
        ErrorKind::usage,
        fmt::format("{} tables, but lookups for {}", shape.rows.size(), shape.lookups.size()),
        "set rows and lookups of every table");
  for (std::size_t f = 0; f < shape.rows.size(); ++f)
    if (shape.rows[f] < 2 || shape.rows[f] >= std::int64_t{1} << 31 || shape.lookups[f] < 1)
      throw Error(
          ErrorKind::usage,
          fmt::format("table {} has {} rows and {} lookups", f, shape.rows[f], shape.lookups[f]),
          "use 2 to 2147483647 rows and at least one lookup");
}

double logistic(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

}  // namespace

ClickModelOptions tiny_clicks() {
  ClickModelOptions options;
  options.shape.rows = {1000, 400, 200, 100, 50, 25, 10, 5, 4, 4, 4, 4};
  options.shape.lookups.assign(12, 1);
  return options;
}

// Deviations that give effects and interactions of 26 tables the same weight as those of tiny's
// 12.
ClickModelOptions small_clicks() {
  ClickModelOptions options;
  options.shape = criteo_shape(1'480'000, false);
  options.law = 1;
  options.main = 0.17;
  options.interaction = 0.0225;
  options.tail = 1000;
  return options;
}

ClickModelOptions standard_clicks(std::int64_t most_rows) {
  ClickModelOptions options = small_clicks();
  options.shape = criteo_shape(most_rows, true);
  options.tail = 10000;
  return options;
}

ClickModel::ClickModel(const ClickModelOptions& options) : options_(options) {
  check_settings(options_.shape);
  for (std::size_t f = 0; f < options_.shape.rows.size(); ++f) {
    const auto rows = static_cast<std::uint32_t>(options_.shape.rows[f]);
    const int lookups = options_.shape.lookups[f];
    ranks_.emplace_back(rows, options_.exponent);
    tables_.push_back({ranks_.back().view(), rows, static_cast<std::uint32_t>(lookups),
                       stride_for(rows), 1 / std::sqrt(lookups), nullptr, 0});
  }
  const RandomStream stream = random_stream(options_.law, kWeights);
  for (int i = 0; i < options_.shape.dense; ++i)
    weights_.push_back(options_.dense * random_normal(stream.key, static_cast<std::uint64_t>(i)));
  view_ = {.tables = tables_.data(),
           .weights = weights_.data(),
           .count = static_cast<int>(tables_.size()),
           .dense = options_.shape.dense,
           .bias = options_.bias,
           .curve = options_.curve,
           .main = options_.main,
           .interaction = options_.interaction,
           .tail = options_.tail,
           .seed = options_.law};
  keep_frequent_rows();
}

void ClickModel::keep_frequent_rows() {
  for (std::uint32_t f = 0; f < tables_.size(); ++f) {
    std::vector<ClickRow>& rows = frequent_.emplace_back();
    for (std::uint32_t rank = 0; rank < std::min(tables_[f].rows, kFrequent); ++rank)
      rows.push_back(row_of(view_, f, rank));
    tables_[f].frequent = rows.data();
    tables_[f].frequent_count = static_cast<std::uint32_t>(rows.size());
  }
}

void ClickModel::read(Split split, std::uint64_t index, ClickSample& sample) const {
  check_fits(sample, options_.shape);
  const std::uint64_t seed = split == Split::evaluation ? options_.law : options_.seed;
  const RandomStream stream = sample_stream(seed, split, index);
  const ClickLogOdds odds = draw_click(view_, stream, sample.dense.data(), sample.ids.data());
  sample.main_effects = odds.main;
  sample.probability = logistic(odds.all);
  sample.label = uniform(stream.bits(0)) < sample.probability ? 1 : 0;
}

}  // namespace bench::training
