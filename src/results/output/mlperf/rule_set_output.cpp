#include "results/output/mlperf/rule_set_output.h"

#include <fmt/format.h>

#include <set>

namespace bench::mlperf {
namespace {

std::string period_of(const RuleSet& rules) {
  return rules.until.empty() ? "no end date" : "runs until " + rules.until;
}

/// "down to 3.3, 10 runs"; whether the target itself is enough, its rule says
std::string goal_text(const Benchmark& benchmark) {
  const std::string runs = fmt::format("{} runs", benchmark.runs);
  if (!benchmark.target) return runs;
  return fmt::format("{} {}, {}", benchmark.lower_is_better ? "down to" : "up to",
                     *benchmark.target, runs);
}

}  // namespace

Document to_document(const std::vector<RuleSet>& rule_sets) {
  Document document{.title = "MLPerf rule sets"};
  FactList sources;
  DocumentTable table{{{"benchmark", false}}};
  std::set<std::string> benchmarks;
  for (const RuleSet& rules : rule_sets) {
    const std::string checker =
        rules.checker.empty() ? "no official checker is named" : "as in " + rules.checker.text();
    sources.rows.emplace_back(rules.version,
                              fmt::format("{}, {}; {}", rules.round, period_of(rules), checker));
    table.columns.push_back({rules.version, false});
    for (const auto& [name, benchmark] : rules.benchmarks) benchmarks.insert(name);
  }
  for (const std::string& name : benchmarks) {
    std::vector<DocumentCell> row = {{name}};
    for (const RuleSet& rules : rule_sets) {
      const auto found = rules.benchmarks.find(name);
      row.push_back({found == rules.benchmarks.end() ? "" : goal_text(found->second)});
    }
    table.rows.push_back(std::move(row));
  }
  document.add(std::move(sources));
  document.add(Heading{"Targets and required runs"}).add(std::move(table));
  return document;
}

Json to_json(const std::vector<RuleSet>& rule_sets) {
  Json all = Json::array();
  for (const RuleSet& rules : rule_sets) {
    Json benchmarks = Json::object();
    for (const auto& [name, benchmark] : rules.benchmarks) {
      Json& one = benchmarks[name] = {{"runs", benchmark.runs}, {"progress", benchmark.progress}};
      one["target"] = benchmark.target ? Json(*benchmark.target) : Json();
      one["better"] =
          benchmark.target ? Json(benchmark.lower_is_better ? "lower" : "higher") : Json();
    }
    all.push_back({{"rule_set", rules.version},
                   {"round", rules.round},
                   {"until", rules.until.empty() ? Json() : Json(rules.until)},
                   {"checker", rules.checker.empty() ? Json()
                                                     : Json{{"version", rules.checker.version},
                                                            {"date", rules.checker.date}}},
                   {"benchmarks", std::move(benchmarks)}});
  }
  return {{"rule_sets", std::move(all)}};
}

}  // namespace bench::mlperf
