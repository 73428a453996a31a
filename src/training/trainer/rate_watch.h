// Measures the learning rate of updates from the parameters themselves: a model also learns with a
// rate that never warms up or decays, only later, and to another loss.
#pragma once

#include <cstdint>
#include <string>

#include "training/engine/replica.h"

namespace bench::training {

class RateWatch {
 public:
  /// The replica must outlive this object.
  explicit RateWatch(const Replica& replica) : replica_(replica) {}

  /// Copies a few parameters that this rank updates, before every tenth step.
  void before_step(std::int64_t step);
  /// Compares their change with that of `rate`, unless the step was skipped: it may differ by two
  /// hundredths. Rates that the type of the parameters cannot resolve are not judged.
  void after_step(std::int64_t step, double rate);

  /// Number of updates judged.
  std::int64_t measured() const { return measured_; }
  /// The first fault, or "".
  const std::string& found() const { return found_; }

 private:
  std::vector<double> values_of(const UpdateRange& range) const;

  const Replica& replica_;
  UpdateSample sample_ = {};  // no values: this step is not measured
  std::int64_t updates_ = 0;  // before it
  std::int64_t measured_ = 0;
  std::string found_ = {};
};

}  // namespace bench::training
