#include "results/run/gauges.h"

#include <fmt/format.h>

#include <cmath>

#include "core/json.h"

namespace bench {
namespace {

std::string as_labels(const GaugeLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += (text.empty() ? "{" : ",") + name + "=\"" + prometheus_label(value) + "\"";
  return text + "}";
}

}  // namespace

void Gauges::add(const std::string& name, const GaugeLabels& labels, double value) {
  if (std::isfinite(value)) samples_[name][as_labels(labels)] = value;
}

std::string Gauges::text(const std::vector<std::pair<const char*, const char*>>& described) const {
  std::string all;
  for (const auto& [name, help] : described) {
    const auto found = samples_.find(name);
    if (found == samples_.end()) continue;
    all += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    for (const auto& [labels, value] : found->second)
      all += fmt::format("{}{} {}\n", name, labels, value);
  }
  return all;
}

std::string prometheus_label(std::string_view text) {
  std::string safe;
  for (const char c : replace_invalid_utf8(text)) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n')
      safe += "\\n";
    else
      safe += c;
  }
  return safe;
}

}  // namespace bench
