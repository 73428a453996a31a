// Endless click logs of a known law: log-odds = bias + w.x + curve (x_0^2 - 1) + an effect of every
// id
// + interactions of rank 4 between all pairs of tables (a factorization machine); ids by Zipf's
// law.
//
// Known of tiny_clicks(), evaluation samples 0 to 99999 (a test holds these):
//   click rate 0.3763, log-loss 0.6623 without features, floor 0.4471; expected AUC 0.8595 by the
//   true probabilities, 0.8074 by main effects alone
// Figures vary with the law, since a few frequent ids weigh much: over 80 laws the AUC is 0.84 +-
// 0.02; 52 is near the one for which the preset's target and faults were studied (click rate 0.354,
// floor 0.447, AUC 0.852 and 0.809). Of small_clicks(): click rate 0.181, floor 0.3688, AUC 0.816
// and 0.781; of standard_clicks(), 50000 samples: 0.198, 0.3779, 0.826 and 0.776. Rare rows of
// these are too rare to be learned in any run: their AUC is a bound that is not reached, and
// a target for them comes from reference runs.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/training/sources/click_source.h"
#include "probes/training/sources/click_step.h"

namespace bench::training {

struct ClickModelOptions {
  ClickShape shape = {};
  std::uint64_t law = 52;  // what decides clicks, and the evaluation samples
  std::uint64_t seed = 1;  // the training samples
  double exponent = 1.05;  // of Zipf's law
  double bias = -1.6;
  double dense = 0.35;  // deviation of the weights w
  double curve = 0.28;
  double main = 0.25;         // deviation of an id's own effect
  double interaction = 0.05;  // of the product of two tables' factors
  /// Rank of a row at which its effects are half as large; 0: all alike. Rare rows of large tables
  /// are too rare to be learned; with it their share of the truth is small too.
  double tail = 0;
};

/// 12 tables of 1806 rows in all, one lookup each.
ClickModelOptions tiny_clicks();
/// 26 tables of 10 M rows in all, one lookup each: MLPerf's tables, none above 1.48 M rows.
ClickModelOptions small_clicks();
/// MLPerf DLRM-DCNv2's 26 tables, 214 lookups a sample; no table above `most_rows`.
ClickModelOptions standard_clicks(std::int64_t most_rows = 40'000'000);

class ClickModel : public ClickSource {
 public:
  /// Throws Error(usage) for tables of fewer than 2 or more than 2^31 - 1 rows, or no lookups.
  explicit ClickModel(const ClickModelOptions& options);

  const ClickShape& shape() const override { return options_.shape; }
  std::optional<std::uint64_t> size(Split) const override { return std::nullopt; }
  bool has_oracle() const override { return true; }
  void read(Split split, std::uint64_t index, ClickSample& sample) const override;

  /// Valid while the model is; a GPU gets copies of what it points to.
  const ClickTables& tables() const { return view_; }

 private:
  void keep_frequent_rows();

  ClickModelOptions options_;
  std::vector<Zipf> ranks_;
  std::vector<ClickTable> tables_;
  std::vector<std::vector<ClickRow>> frequent_;
  std::vector<double> weights_;
  ClickTables view_;
};

}  // namespace bench::training
