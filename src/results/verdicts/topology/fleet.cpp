#include "results/verdicts/topology/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "results/run/conclusion.h"

namespace bench {
namespace {

// Builds the shapes of hosts from the records of a run.

HostTopology* find_host(std::vector<HostTopology>& hosts, const std::string& name) {
  const auto found = std::ranges::find(hosts, name, &HostTopology::host);
  return found == hosts.end() ? nullptr : &*found;
}

void take_facts(HostTopology& host, const Facts& facts) {
  if (facts.topic != "topology") return;
  host.shape = shape_of(facts.facts);
  host.probed = true;
}

void take_outcome(HostTopology& host, const Outcome& outcome) {
  if (outcome.status == Status::ok) return;
  host.trouble = std::string(to_string(outcome.status)) + ": " + outcome.reason;
  host.invalid = outcome.status == Status::invalid;
}

}  // namespace

std::vector<HostTopology> topologies_of(const RunRecords& run) {
  std::vector<HostTopology> hosts;
  std::map<std::string, std::string> host_of_job;
  for (const PlannedJob& job : run.jobs) {
    if (job.probe != "topology" || job.hosts.size() != 1) continue;
    host_of_job[job.id] = job.hosts.front();
    if (find_host(hosts, job.hosts.front()) != nullptr) continue;
    hosts.push_back({job.hosts.front()});
    hosts.back().probed = false;
    hosts.back().trouble = job.skipped.empty() ? "not probed" : job.skipped;
  }
  for (const Record& record : run.records) {
    const auto job = host_of_job.find(record.job);
    HostTopology* host = job == host_of_job.end() ? nullptr : find_host(hosts, job->second);
    if (host == nullptr) continue;
    if (const auto* facts = std::get_if<Facts>(&record.body)) take_facts(*host, *facts);
    if (const auto* outcome = std::get_if<Outcome>(&record.body)) take_outcome(*host, *outcome);
  }
  for (HostTopology& host : hosts)
    if (host.probed && !host.invalid && host.trouble == "not probed") host.trouble.clear();
  return hosts;
}

namespace {

// Groups hosts with the same hardware, regardless of versions and settings.

bool is_hardware(const std::string& path) {
  const Aspect aspect = aspect_of(path);
  return aspect == Aspect::part || aspect == Aspect::link || aspect == Aspect::place;
}

bool same_hardware(const Shape& a, const Shape& b) {
  const auto within = [](const Shape& one, const Shape& other) {
    return std::ranges::all_of(one, [&](const auto& entry) {
      const Json& value = value_at(other, entry.first);
      return !is_hardware(entry.first) || is_unreadable_trait(entry.second.value) ||
             is_unreadable_trait(value) || same_value(entry.first, entry.second.value, value);
    });
  };
  return within(a, b) && within(b, a);
}

}  // namespace

std::vector<HostKind> kinds_of(const std::vector<HostTopology>& hosts) {
  std::vector<HostKind> kinds;
  for (const HostTopology& host : hosts) {
    if (!host.probed) continue;
    const auto same = std::ranges::find_if(
        kinds, [&](const HostKind& kind) { return same_hardware(kind.shape, host.shape); });
    if (same == kinds.end())
      kinds.push_back({{host.host}, host.shape});
    else
      same->hosts.push_back(host.host);
  }
  std::ranges::stable_sort(kinds, std::greater{}, [](const HostKind& k) { return k.hosts.size(); });
  return kinds;
}

namespace {

using Members = std::vector<const HostTopology*>;

struct Value {
  Json value;
  Members hosts;
};

/// The values at a path, most frequent first, without hosts that could not read it.
std::vector<Value> values_at(const std::string& path, const Members& hosts) {
  std::vector<Value> values;
  for (const HostTopology* host : hosts) {
    const Json& own = value_at(host->shape, path);
    if (is_unreadable_trait(own)) continue;
    const auto same = std::ranges::find_if(
        values, [&](const Value& one) { return same_value(path, one.value, own); });
    if (same == values.end())
      values.push_back({own, {host}});
    else
      same->hosts.push_back(host);
  }
  std::ranges::stable_sort(values, std::greater{}, [](const Value& v) { return v.hosts.size(); });
  return values;
}

std::size_t count(const std::vector<Value>& values) {
  std::size_t sum = 0;
  for (const Value& value : values) sum += value.hosts.size();
  return sum;
}

std::set<std::string> paths_of(const Members& hosts) {
  std::set<std::string> paths;
  for (const HostTopology* host : hosts)
    for (const auto& [path, trait] : host->shape) paths.insert(path);
  return paths;
}

class PeerGroup {
 public:
  PeerGroup(const Members& hosts, const Profile* profile, FleetTopology& fleet,
            std::map<std::string, HostFindings*>& findings)
      : hosts_(hosts), profile_(profile), fleet_(fleet), findings_(findings) {}

  void compare() {
    const bool enough = hosts_.size() >= kFewestForMajority;
    for (const std::string& path : paths_of(hosts_)) compare_path(path, enough);
    if (!enough && (profile_ == nullptr || !profile_->complete))
      fleet_.no_majority.push_back(fmt::format(
          "no majority among {}: at least {} hosts{} required", names(), kFewestForMajority,
          profile_ == nullptr ? "" : " of profile " + profile_->name));
  }

 private:
  std::string names() const {
    if (hosts_.size() == 1) return "one host (" + hosts_.front()->host + ")";
    return fmt::format("{} hosts", hosts_.size());
  }

  void compare_path(const std::string& path, bool enough) {
    const bool stated = profile_ != nullptr && (profile_->complete || profile_->rule_for(path));
    if (stated) return;
    const std::vector<Value> values = values_at(path, hosts_);
    if (values.empty()) return;
    const bool decided = values.front().hosts.size() * 2 > count(values) &&
                         values.front().hosts.size() >= kFewestForMajority - 1;
    if (enough && decided) return against_majority(path, values);
    if (values.size() > 1) undecided(path, values);
  }

  void against_majority(const std::string& path, const std::vector<Value>& values) {
    const Json& usual = values.front().value;
    for (const HostTopology* host : hosts_) {
      if (same_value(path, usual, value_at(host->shape, path))) continue;
      Difference difference = difference_at(path, usual, host->shape);
      difference.against = "majority";
      findings_.at(host->host)->differences.push_back(std::move(difference));
    }
  }

  void undecided(const std::string& path, const std::vector<Value>& values) {
    Undecided one{path, {}};
    for (const Value& value : values) {
      one.values.emplace_back(value.value, std::vector<std::string>());
      for (const HostTopology* host : value.hosts) {
        one.values.back().second.push_back(host->host);
        HostFindings& findings = *findings_.at(host->host);
        if (findings.match == HostMatch::same) findings.match = HostMatch::unknown;
      }
    }
    fleet_.undecided.push_back(std::move(one));
  }

  const Members& hosts_;
  const Profile* profile_;
  FleetTopology& fleet_;
  std::map<std::string, HostFindings*>& findings_;
};

HostFindings findings_of(const HostTopology& host, const Profile* profile) {
  HostFindings findings{host.host, profile == nullptr ? "" : profile->name, host.trouble};
  for (const auto& [path, trait] : host.shape)
    if (is_unreadable_trait(trait.value))
      findings.unreadable[path] = trait.value.at("unreadable").get<std::string>();
  if (profile != nullptr && host.probed) findings.differences = compare(*profile, host.shape);
  return findings;
}

bool is_certain(const Difference& one) { return one.severity != Severity::unreadable; }

void conclude(HostFindings& findings, const HostTopology& host) {
  tidy(findings.differences);
  if (!host.probed || (!host.trouble.empty() && !host.invalid)) {
    findings.match = HostMatch::unknown;
  }
  if (host.invalid || std::ranges::any_of(findings.differences, is_certain)) {
    findings.match = HostMatch::differs;
  } else if (!findings.differences.empty()) {
    findings.match = HostMatch::unknown;
  }
}

/// Counts hosts with the same value: a value of half the fleet is hardly a fault.
void count_alike(HostFindings& findings, const std::vector<HostTopology>& hosts) {
  for (Difference& difference : findings.differences)
    difference.alike =
        static_cast<std::size_t>(std::ranges::count_if(hosts, [&](const HostTopology& other) {
          return other.host != findings.host && other.probed &&
                 same_value(difference.path, difference.found,
                            value_at(other.shape, difference.path));
        }));
}

}  // namespace

std::string_view to_string(HostMatch match) {
  if (match == HostMatch::same) return "same";
  return match == HostMatch::differs ? "differs" : "unknown";
}

FleetTopology compare_fleet(const std::vector<HostTopology>& hosts,
                            const std::map<std::string, Profile>& profiles) {
  FleetTopology fleet;
  std::map<std::string, Members> groups;  // by the profile's name
  const auto profile_named = [&](const std::string& name) {
    const auto found = profiles.find(name);
    return found == profiles.end() ? nullptr : &found->second;
  };
  for (const HostTopology& host : hosts) {
    fleet.hosts.push_back(findings_of(host, profile_named(host.profile)));
    if (host.probed) groups[host.profile].push_back(&host);
  }
  std::map<std::string, HostFindings*> findings;
  for (HostFindings& one : fleet.hosts) findings[one.host] = &one;
  for (const auto& [name, members] : groups) {
    PeerGroup(members, profile_named(name), fleet, findings).compare();
    for (const HostTopology* host : members)
      findings.at(host->host)->compared =
          profiles.contains(name) || members.size() >= kFewestForMajority;
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    conclude(fleet.hosts[i], hosts[i]);
    count_alike(fleet.hosts[i], hosts);
  }
  fleet.kinds = kinds_of(hosts);
  return fleet;
}

ExitCode exit_code_of(const FleetTopology& fleet) {
  Conclusion conclusion;
  for (const HostFindings& host : fleet.hosts)
    conclusion.add(host.match == HostMatch::differs   ? Verdict::fail
                   : host.match == HostMatch::unknown ? Verdict::inconclusive
                                                      : Verdict::pass);
  return conclusion.exit_code();
}

}  // namespace bench
