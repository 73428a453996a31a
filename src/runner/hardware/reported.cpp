#include "runner/hardware/reported.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "core/json_text.h"
#include "core/text.h"
#include "runner/hardware/plausible_range.h"

namespace bench {
namespace {

/// Nothing that both say differs.
bool agree(const Json& a, const Json& b) {
  for (const auto& [name, value] : a.items())
    if (b.contains(name) && b[name] != value) return false;
  return true;
}

/// "kernel copy ": the parameters that are not stated.
std::string left_open(const Json& reported, const Json& stated) {
  std::string text;
  for (const auto& [name, value] : reported.items())
    if (!stated.contains(name)) text += name + " " + text_of(value) + " ";
  return text;
}

}  // namespace

std::string reached_by_others(const HardwareEntry& entry, const std::string& metric,
                              const Json& params) {
  std::map<std::string, const ReportedValue*> greatest;
  for (const ReportedValue& one : entry.reported) {
    const bool counts = one.metric == metric && one.kind == "measured" && one.doubt.empty();
    if (!counts || !agree(one.params, params)) continue;
    const ReportedValue*& known = greatest[left_open(one.params, params)];
    if (known == nullptr || one.value > known->value) known = &one;
  }
  std::vector<std::string> words;
  for (const auto& [what, one] : greatest)
    words.push_back(fmt::format(
        "{}{} ({})", what, format(one->value, unit_of({one->metric, one->params})), one->source));
  return words.empty() ? "" : "others reached " + join(words, ", ");
}

}  // namespace bench
