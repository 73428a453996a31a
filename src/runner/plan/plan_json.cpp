#include "runner/plan/plan_json.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "core/error.h"

namespace bench {
namespace {

/// Ranks per host, for jobs with unequal counts.
Json uneven_ranks(const Plan& plan) {
  Json uneven = Json::object();
  for (const PlanEntry& entry : plan.entries) {
    Json ranks = Json::array();
    for (const Place& place : entry.places) ranks.push_back(place.ranks);
    for (const Json& one : ranks)
      if (one != ranks.front()) uneven[entry.job.id] = ranks;
  }
  return uneven;
}

Json cooldowns(const Plan& plan) {
  Json result = Json::object();
  for (const PlanEntry& entry : plan.entries)
    if (entry.cooldown.value > 0.0) result[entry.job.id] = entry.cooldown.value;
  return result;
}

std::map<std::string, const Host*> hosts_by_name(const Inventory& inventory) {
  std::map<std::string, const Host*> hosts;
  for (const Host& host : inventory.hosts) hosts[host.name] = &host;
  return hosts;
}

/// The ranks of each of a job's hosts: as listed for an uneven job, else equally many. Empty unless
/// they add up.
std::vector<int> ranks_by_host(const Job& job, const Json& listed) {
  const auto hosts = static_cast<int>(job.hosts.size());
  if (listed.is_null())
    return job.ranks >= hosts && job.ranks % hosts == 0
               ? std::vector<int>(job.hosts.size(), job.ranks / hosts)
               : std::vector<int>();
  std::vector<int> ranks;
  std::int64_t sum = 0;
  for (const Json& one : listed) {
    const std::int64_t number = one.is_number_integer() ? one.get<std::int64_t>() : 0;
    if (number < 1 || number > job.ranks) return {};
    ranks.push_back(static_cast<int>(number));
    sum += number;
  }
  return ranks.size() == job.hosts.size() && sum == job.ranks ? ranks : std::vector<int>();
}

std::vector<Place> places_of(const Job& job, const std::map<std::string, const Host*>& hosts,
                             const Json& listed) {
  if (job.hosts.empty()) return {};  // skipped, as no host fits
  const std::vector<int> ranks = ranks_by_host(job, listed);
  if (ranks.empty())
    throw Error(ErrorKind::input,
                fmt::format("job '{}' has {} ranks on {} hosts, and /uneven lists {}", job.id,
                            job.ranks, job.hosts.size(), excerpt(listed)),
                "start a new run");
  std::vector<Place> places;
  for (std::size_t i = 0; i < job.hosts.size(); ++i) {
    const auto host = hosts.find(job.hosts[i]);
    if (host == hosts.end())
      throw Error(ErrorKind::input, "host '" + job.hosts[i] + "' is not in the plan's inventory");
    places.push_back(place_on(*host->second, ranks[i]));
  }
  return places;
}

PlanEntry entry_from(const Json& json, const std::map<std::string, const Host*>& hosts,
                     const Json& plan) {
  Json job = json;
  PlanEntry entry;
  entry.skip = job.value("reason", "");
  job.erase("reason");
  entry.job = job_from_json(job);
  entry.places =
      places_of(entry.job, hosts, plan.value("uneven", Json::object()).value(entry.job.id, Json()));
  entry.cooldown = Seconds{plan.value("cooldown_s", Json::object()).value(entry.job.id, 0.0)};
  return entry;
}

const char* list_of(const PlanEntry& entry) { return entry.skip.empty() ? "jobs" : "skipped"; }

Json job_json(const PlanEntry& entry) {
  Json job = to_json(entry.job);
  if (!entry.skip.empty()) job["reason"] = entry.skip;
  return job;
}

Json without_jobs(const Plan& plan) {
  Json json = {{"suite", plan.suite.name},
               {"description", plan.suite.description},
               {"suite_path", plan.suite.path},
               {"digest", plan.suite.digest},
               {"inventory", to_json(plan.inventory)},
               {"gates", plan.gates},
               {"expected_s", plan.expected.value}};
  if (!plan.suite.required_facts.is_null()) json["requires"] = plan.suite.required_facts;
  if (!plan.suite.acceptance.empty()) json["acceptance"] = plan.suite.acceptance;
  if (Json uneven = uneven_ranks(plan); !uneven.empty()) json["uneven"] = std::move(uneven);
  if (Json rest = cooldowns(plan); !rest.empty()) json["cooldown_s"] = std::move(rest);
  return json;
}

}  // namespace

void write_plan(const Plan& plan, Json header, const Write& write) {
  header.update(without_jobs(plan));
  std::string head = header.dump(1, ' ', false, Json::error_handler_t::replace);
  head.resize(head.rfind('\n'));  // the closing brace goes to the end
  write(head);
  for (const char* list : {"jobs", "skipped"}) {
    write(fmt::format(",\n \"{}\": [", list));
    const char* before = "\n  ";
    for (const PlanEntry& entry : plan.entries) {
      if (list_of(entry) != std::string_view(list)) continue;
      write(before + dump(job_json(entry)));
      before = ",\n  ";
    }
    write("\n ]");
  }
  write("\n}\n");
}

std::string plan_text(const Plan& plan, Json header) {
  std::string text;
  write_plan(plan, std::move(header), [&](const std::string& piece) { text += piece; });
  return text;
}

Plan plan_from_json(const Json& json, const std::string& origin) try {
  Plan plan;
  plan.suite.name = json.at("suite");
  plan.suite.description = json.value("description", "");
  plan.suite.path = json.value("suite_path", "");
  plan.suite.digest = json.at("digest");
  plan.suite.required_facts = json.value("requires", Json());
  plan.suite.acceptance = json.value("acceptance", Json::object());
  plan.inventory = inventory_from_json(json.at("inventory"), origin);
  plan.gates = json.value("gates", Json::object());
  const auto hosts = hosts_by_name(plan.inventory);
  std::set<std::string> ids;
  for (const char* list : {"jobs", "skipped"})
    for (const Json& job : json.at(list)) {
      plan.entries.push_back(entry_from(job, hosts, json));
      if (!ids.insert(plan.entries.back().job.id).second)
        throw Error(ErrorKind::input,
                    origin + ": job '" + plan.entries.back().job.id + "' is planned twice",
                    "start a new run");
    }
  return plan;
} catch (const Json::exception& error) {
  throw Error(ErrorKind::input, origin + ": not a plan of this version: " + error.what(),
              "start a new run: runs planned by an older benchctl cannot be resumed");
}

}  // namespace bench
