#include "results/nightly/healthiest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"

namespace bench {
namespace {

using HostAndCase = std::pair<std::string, std::string>;

/// host -> its newest confirmed finding without a later check of the same case.
std::map<std::string, const PastFinding*> open_findings(const NightPast& past) {
  std::map<HostAndCase, std::int64_t> checked;
  for (const CheckPast& check : past.checks) {
    std::int64_t& last = checked[{check.host, check.case_name}];
    last = std::max(last, check.last_ns);
  }
  std::map<std::string, const PastFinding*> open;
  for (const PastFinding& one : past.findings) {
    if (one.finding.state != SuspicionState::confirmed ||
        one.finding.kind == SuspicionKind::unchecked)
      continue;
    const auto last = checked.find({one.finding.host, one.finding.case_name});
    if (last == checked.end() || last->second <= one.time_ns) open[one.finding.host] = &one;
  }
  return open;
}

std::string why_unfit(const HostHealth& host, const PastFinding* open, double days) {
  if (open != nullptr)
    return fmt::format(
        "{} in {} since {}", to_string(open->finding.kind),
        open->finding.metric.empty() ? open->finding.case_name : open->finding.metric,
        format_time(open->time_ns));
  if (!std::isfinite(host.age_s)) return "never checked";
  if (host.age_s > days * kDay_s)
    return fmt::format("not checked for {:.1f} days", host.age_s / kDay_s);
  return "";
}

}  // namespace

std::vector<HostHealth> by_health(const std::vector<std::string>& hosts, const NightPast& past,
                                  const PastIndex& index, double days) {
  const auto open = open_findings(past);
  std::vector<HostHealth> list;
  for (const std::string& name : hosts) {
    HostHealth host{name, index.incidents(name), index.age_s(name)};
    const auto found = open.find(name);
    host.unfit = why_unfit(host, found == open.end() ? nullptr : found->second, days);
    list.push_back(std::move(host));
  }
  std::ranges::stable_sort(list, {}, [](const HostHealth& host) {
    return std::tuple(!host.unfit.empty(), host.incidents, host.age_s);
  });
  return list;
}

}  // namespace bench
