// Detects steps with an unusual gradient norm: a bit flip, a bad batch, a lost part. Norms are
// taken before clipping, which would hide them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace bench::training {

struct GradientOutlier {
  std::int64_t step = 0;
  double norm = 0.0;
  double z = 0.0;      // in standard deviations; infinite if the norm is not finite
  double ratio = 1.0;  // to the geometric mean before it; infinite likewise
};

/// z-score of log(norm) against exponential averages over about `window` steps. An outlier does not
/// enter the averages.
class GradientOutliers {
 public:
  explicit GradientOutliers(double threshold = 6.0, int window = 50)
      : threshold_(threshold), window_(window) {}

  std::optional<GradientOutlier> observe(std::int64_t step, double norm);
  const std::vector<GradientOutlier>& log() const { return log_; }

  /// The state that a checkpoint stores.
  struct Averages {
    int seen = 0;
    double mean = 0.0, variance = 0.0;  // of log(norm)
  };
  Averages averages() const { return {seen_, mean_, variance_}; }
  void resume(const Averages& averages) {
    seen_ = averages.seen;
    mean_ = averages.mean;
    variance_ = averages.variance;
  }

 private:
  double threshold_;
  int window_;
  int seen_ = 0;
  double mean_ = 0.0;
  double variance_ = 0.0;
  std::vector<GradientOutlier> log_ = {};
};

}  // namespace bench::training
