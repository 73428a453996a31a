// Gauges as a text file for Prometheus.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Names and values in output order.
using GaugeLabels = std::vector<std::pair<std::string, std::string>>;

/// Groups the samples of each metric, as the format requires. Two samples with equal labels would
/// make the whole file invalid, so the later one wins.
class Gauges {
 public:
  /// Values that are not finite are omitted.
  void add(const std::string& name, const GaugeLabels& labels, double value);
  /// `described`: metric names with help texts, in output order; other metrics are omitted.
  std::string text(const std::vector<std::pair<const char*, const char*>>& described) const;

 private:
  std::map<std::string, std::map<std::string, double>> samples_;
};

/// A label's value: backslash, quote and line break are escaped, bytes that are no UTF-8 replaced.
std::string prometheus_label(std::string_view text);

}  // namespace bench
