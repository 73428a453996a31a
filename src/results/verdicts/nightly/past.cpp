#include "results/verdicts/nightly/past.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/text.h"
#include "core/time.h"

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

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return 1e-9 * static_cast<double>(std::max<std::int64_t>(0, to_ns - from_ns));
}

}  // namespace

PastIndex::PastIndex(const NightPast& past, const FaultCatalogue& catalogue, std::int64_t now_ns)
    : catalogue_(catalogue), now_ns_(now_ns) {
  for (const CheckPast& check : past.checks) add(check);
  for (const PastFinding& finding : past.findings) add(finding);
  for (const SkipPast& skip : past.skips) skips_[{skip.host, skip.case_name}] = skip.reason;
}

void PastIndex::add(const CheckPast& check) {
  const double age_s = seconds_between(check.last_ns, now_ns_);
  auto [at, is_new] = hosts_.try_emplace(check.host);
  OfHost& host = at->second;
  host.age_s = is_new ? age_s : std::min(host.age_s, age_s);
  host.cases[check.case_name] = &check;
  for (const auto& [fault, chance] : catalogue_.finds(check.probe, check.device)) {
    const auto [known, first] = host.fault_age_s.try_emplace(fault, age_s);
    if (!first) known->second = std::min(known->second, age_s);
    FaultPast& fleet = fleet_[fault];
    fleet.checked += check.count;
    fleet.watched_s += seconds_between(check.first_ns, check.last_ns);
  }
}

/// A finding counts for the fault its case detects best, as the actual fault is unknown.
void PastIndex::add(const PastFinding& past) {
  const NightFinding& finding = past.finding;
  // Neither says that a check finds a fault of the catalogue.
  if (finding.state != SuspicionState::confirmed || finding.kind == SuspicionKind::unchecked ||
      finding.kind == SuspicionKind::cpu_quota)
    return;
  if (!finding.metric.empty())
    bad_.insert(bad_value(finding.run, finding.host_name, finding.case_name, finding.metric,
                          finding.params));
  const auto finds = catalogue_.finds(finding.probe, finding.device);
  const auto likely = std::ranges::max_element(
      finds, {}, [](const auto& fault_and_chance) { return fault_and_chance.second; });
  if (likely == finds.end()) return;
  const std::string& fault = likely->first;
  const bool is_new = known_.insert({finding.run, finding.host, fault}).second;
  learn(finding, fault, is_new);
  if (!is_new) return;
  ++fleet_[fault].found;
  if (seconds_between(past.time_ns, now_ns_) > kIncidentDays * kDay_s) return;
  const auto host = hosts_.find(finding.host);
  if (host != hosts_.end()) ++host->second.incidents[fault];
}

PastIndex::BadValue PastIndex::bad_value(const std::string& run, const std::string& host,
                                         const std::string& case_name, const std::string& metric,
                                         const Json& params) {
  return {run, host, case_name, metric, dump(params)};
}

bool PastIndex::is_known_bad(const std::string& run, const SeriesIdentity& series) const {
  return bad_.contains(bad_value(run, series.host, series.case_name, series.metric, series.params));
}

/// Checks that found it, and those that missed it (once per incident).
void PastIndex::learn(const NightFinding& finding, const std::string& fault, bool is_new) {
  Seen& shown = seen_[{check_name(finding.probe, finding.device), fault}];
  ++shown.shown;
  ++shown.confirmed;
  if (!is_new) return;
  for (const std::string& check : finding.also_ran) ++seen_[{check, fault}].confirmed;
}

FaultChances PastIndex::chances(const std::string& host) const {
  FaultChances chances;
  const auto known = hosts_.find(host);
  for (const FaultKind& kind : catalogue_.faults) {
    const auto fleet = fleet_.find(kind.name);
    FaultPast past = fleet == fleet_.end() ? FaultPast{} : fleet->second;
    past.age_s = kNever;
    if (known != hosts_.end()) {
      if (const auto age = known->second.fault_age_s.find(kind.name);
          age != known->second.fault_age_s.end())
        past.age_s = age->second;
      if (const auto seen = known->second.incidents.find(kind.name);
          seen != known->second.incidents.end())
        past.incidents = seen->second;
    }
    chances[kind.name] = {fault_chance(kind.prior, past), kind.prior.loss};
  }
  return chances;
}

std::map<std::string, double> PastIndex::finds(const std::string& probe,
                                               const std::string& device) const {
  std::map<std::string, double> finds = catalogue_.finds(probe, device);
  for (auto& [fault, chance] : finds)
    if (const auto seen = seen_.find({check_name(probe, device), fault}); seen != seen_.end())
      chance = detection_probability(chance, seen->second.shown, seen->second.confirmed);
  return finds;
}

const CheckPast* PastIndex::check(const std::string& host, const std::string& case_name) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return nullptr;
  const auto found = known->second.cases.find(case_name);
  return found == known->second.cases.end() ? nullptr : found->second;
}

double PastIndex::age_s(const std::string& host, const std::string& case_name) const {
  const CheckPast* last = check(host, case_name);
  return last == nullptr ? kNever : seconds_between(last->last_ns, now_ns_);
}

double PastIndex::age_s(const std::string& host) const {
  const auto known = hosts_.find(host);
  return known == hosts_.end() ? kNever : known->second.age_s;
}

std::string PastIndex::skip_reason(const std::string& host, const std::string& case_name) const {
  const auto known = skips_.find({host, case_name});
  return known == skips_.end() ? "" : known->second;
}

double PastIndex::seconds(const std::string& host, const std::string& case_name) const {
  const CheckPast* last = check(host, case_name);
  return last == nullptr ? 0.0 : last->seconds;
}

std::size_t PastIndex::incidents(const std::string& host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return 0;
  std::size_t sum = 0;
  for (const auto& [fault, count] : known->second.incidents) sum += count;
  return sum;
}

}  // namespace bench
