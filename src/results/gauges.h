// Gauges as a text file for Prometheus.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Names and values, in the order in which they are to stand.
using GaugeLabels = std::vector<std::pair<std::string, std::string>>;

/// All samples of one metric stand together, as the format demands; two with equal labels would be
/// refused with the whole file, so the later one counts.
class Gauges {
 public:
  /// A value that is not finite is left out.
  void add(const std::string& name, const GaugeLabels& labels, double value);
  /// `described`: names with their help, in the order of the file; others are left out.
  std::string text(const std::vector<std::pair<const char*, const char*>>& described) const;

 private:
  std::map<std::string, std::map<std::string, double>> samples_;
};

/// A label's value: backslash, quote and line break are escaped, bytes that are no UTF-8 replaced.
std::string prometheus_label(std::string_view text);

}  // namespace bench
