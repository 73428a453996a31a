#include "results/reports/machines.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace bench {
namespace {

constexpr std::string_view kClockMetric = "clock.frequency";

void add_hurts(const Json& hurts, Machine& machine) {
  for (const Json& hurt : hurts) {
    if (!hurt.is_string()) continue;
    const auto text = hurt.get<std::string>();
    if (std::find(machine.hurts.begin(), machine.hurts.end(), text) == machine.hurts.end())
      machine.hurts.push_back(text);
  }
}

/// What topology says in general, "host" says for sure: it wins where both state a key.
struct Stated {
  Json host = Json::object();
  Json topology = Json::object();
  std::vector<const Json*> hurts;
};

std::map<std::string, Stated> statements(const RunRecords& run) {
  std::map<std::string, Stated> by_host;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts == nullptr || (facts->topic != "host" && facts->topic != "topology")) continue;
    Stated& stated = by_host[record.host];
    (facts->topic == "host" ? stated.host : stated.topology).update(facts->facts);
    stated.hurts.push_back(&array_field(facts->facts, "hurts"));
  }
  return by_host;
}

double measured_clock(const std::string& host, const std::vector<Result>& results) {
  for (const Result& result : results)
    if (result.series.metric == kClockMetric && result.series.host == host &&
        result.series.outcome == Status::ok)
      return result.series.median;
  return kNoValue;
}

}  // namespace

std::vector<Machine> machines(const RunRecords& run, const std::vector<Result>& results) {
  std::vector<Machine> found;
  for (const auto& [host, stated] : statements(run)) {
    Machine machine;
    machine.host = host;
    machine.facts = stated.topology;
    machine.facts.update(stated.host);
    machine.facts.erase("hurts");
    for (const Json* hurts : stated.hurts) add_hurts(*hurts, machine);
    machine.clock_hz = measured_clock(host, results);
    found.push_back(std::move(machine));
  }
  return found;
}

Json programs(const RunRecords& run) {
  Json list = Json::array();
  const std::string benchctl = text_field(run.plan, "benchctl_version");
  if (!benchctl.empty()) list.push_back({{"name", "benchctl"}, {"version", benchctl}});
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts == nullptr || facts->topic != "program") continue;
    if (std::find(list.begin(), list.end(), facts->facts) == list.end())
      list.push_back(facts->facts);
  }
  return list;
}

}  // namespace bench
