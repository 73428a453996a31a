// Gauges of running trainings: one list of names and help texts for all that write them, because
// files with different texts for one name exclude each other in node_exporter.
#pragma once

#include <optional>
#include <string>

#include "results/run/gauges.h"

namespace bench {

class TrainingGauges {
 public:
  /// `name` without its prefix "benchctl_training_". Throws Error(internal) for a name that is not
  /// in the list; a value that is absent or not finite is omitted.
  void add(const std::string& name, const GaugeLabels& labels, std::optional<double> value);
  std::string text() const;

 private:
  Gauges gauges_ = {};
};

}  // namespace bench
