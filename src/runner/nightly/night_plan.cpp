#include "runner/nightly/night_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bench {
namespace {

/// All jobs of one case on one host.
struct Group {
  std::vector<std::size_t> entries;
  NightCheck check;
  double age_s = 0.0;
  bool overdue = false;
  std::string skipped = {};  // why its rank skipped it when it last ran
  double rate = 0.0;         // gain per second if chosen
  bool chosen = false;
};

using GroupsOfHost = std::map<std::string, Group>;  // by case

std::map<std::string, GroupsOfHost> group(const Plan& whole, const PastIndex& past) {
  std::map<std::string, GroupsOfHost> groups;
  for (std::size_t i = 0; i < whole.entries.size(); ++i) {
    const PlanEntry& entry = whole.entries[i];
    if (!entry.skip.empty() || entry.job.hosts.empty()) continue;
    const std::string& host = entry.job.hosts.front();
    Group& one = groups[host][entry.job.case_name];
    const double known_s = past.seconds(host, entry.job.case_name);
    one.entries.push_back(i);
    one.check.name = entry.job.case_name;
    one.check.finds = past.finds(entry.job.probe, entry.job.device);
    one.check.cost_s += (known_s > 0.0 ? known_s : entry.expected.value) + entry.cooldown.value;
  }
  return groups;
}

std::string why_not(const Group& one, double share_s) {
  if (!one.skipped.empty())
    return "skipped when it last ran (" + one.skipped + "): tried again when time is left";
  if (one.check.cost_s > share_s)
    return fmt::format("takes {:.1f} s, but the budget per host is {:.1f} s: raise --budget",
                       one.check.cost_s, share_s);
  return "no time left";
}

/// Chooses the checks of one host.
class HostNight {
 public:
  HostNight(GroupsOfHost& groups, FaultChances chances, double share_s)
      : chances_(std::move(chances)), left_s_(share_s) {
    for (auto& [name, one] : groups) groups_.push_back(&one);
  }

  /// Chooses among checks of this kind in the time that is left.
  template <class Kind>
  void choose(const Kind& is_offered) {
    std::vector<Group*> offered;
    std::vector<NightCheck> checks;
    for (Group* one : groups_) {
      if (!is_offered(*one)) continue;
      offered.push_back(one);
      checks.push_back(one->check);
    }
    const CheckChoice choice = choose_checks(checks, chances_, left_s_);
    exact_ &= choice.exact;
    for (const std::size_t at : choice.checks) take(*offered[at]);
  }

  double value() const { return value_; }
  bool exact() const { return exact_; }

 private:
  /// Reduces the remaining chances by what the check may find.
  void take(Group& one) {
    const double gain = value_of({0}, {one.check}, chances_);
    one.chosen = true;
    one.rate = gain / std::max(1e-3, one.check.cost_s);
    value_ += gain;
    left_s_ -= one.check.cost_s;
    for (const auto& [fault, chance] : one.check.finds)
      if (const auto known = chances_.find(fault); known != chances_.end())
        known->second.chance *= 1.0 - chance;
  }

  std::vector<Group*> groups_;
  FaultChances chances_;
  double left_s_;
  double value_ = 0.0;
  bool exact_ = true;
};

std::size_t hosts_with_jobs(const std::map<std::string, GroupsOfHost>& groups) {
  return std::max<std::size_t>(1, groups.size());
}

/// Overdue first, then by gain per second.
Plan ordered(const Plan& whole, const std::map<std::string, GroupsOfHost>& groups) {
  std::vector<const Group*> chosen;
  for (const auto& [host, of_host] : groups)
    for (const auto& [name, one] : of_host)
      if (one.chosen) chosen.push_back(&one);
  std::ranges::stable_sort(chosen, [](const Group* a, const Group* b) {
    if (a->overdue != b->overdue) return a->overdue;
    return a->overdue ? a->age_s > b->age_s : a->rate > b->rate;
  });
  Plan plan = without_entries(whole);
  for (const Group* one : chosen)
    for (const std::size_t at : one->entries) {
      plan.entries.push_back(whole.entries[at]);
      plan.expected += whole.entries[at].expected;
    }
  return plan;
}

}  // namespace

void skip_busy(Plan& plan, const std::map<std::string, std::string>& busy) {
  for (PlanEntry& entry : plan.entries)
    for (const std::string& host : entry.job.hosts)
      if (const auto found = busy.find(host); found != busy.end() && entry.skip.empty())
        entry.skip = host + " is " + found->second + "; nightly runs only on idle nodes";
}

NightPlan plan_night(const Plan& whole, const PastIndex& past, const NightTime& time) {
  auto groups = group(whole, past);
  const double lanes = std::min(1.0, static_cast<double>(std::max(1, time.parallel)) /
                                         static_cast<double>(hosts_with_jobs(groups)));
  const double share_s = time.budget_s * (1.0 - time.reserve) * lanes;
  const double since_s = 1e-9 * static_cast<double>(time.now_ns - time.last_night_ns);
  NightPlan night;
  for (auto& [host, of_host] : groups) {
    for (auto& [name, one] : of_host) {
      one.age_s = past.age_s(host, name);
      one.skipped = past.skip_reason(host, name);
      one.overdue = time.last_night_ns > 0 && one.age_s > since_s && one.skipped.empty();
    }
    HostNight chooser(of_host, past.chances(host), share_s);
    chooser.choose([](const Group& one) { return one.overdue; });
    chooser.choose([](const Group& one) { return !one.overdue && one.skipped.empty(); });
    chooser.choose([](const Group& one) { return !one.skipped.empty(); });
    night.value += chooser.value();
    night.exact &= chooser.exact();
    for (const auto& [name, one] : of_host)
      if (!one.chosen)
        night.skipped_checks.push_back({host, name, one.age_s, why_not(one, share_s)});
  }
  night.plan = ordered(whole, groups);
  return night;
}

}  // namespace bench
