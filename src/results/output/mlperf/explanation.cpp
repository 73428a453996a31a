#include "results/output/mlperf/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/text.h"
#include "mlperf/strict/strict_check.h"

namespace bench::mlperf {
namespace {

struct OfficialKind {
  std::string_view name, meaning;
};
constexpr OfficialKind kOfficialKinds[] = {
    {"required", "The log has the key as often as the rules ask."},
    {"check", "Each line with the key passes the official checker's test."},
    {"first", "The first line with the key passes the official checker's test."},
    {"target", "At least one line with the key passes the official checker's test."},
    {"derive", "What the official checker computes from the line can be computed."},
    {"crash", "The official checker does not end with a traceback, which refuses the log."},
    {"parse", "The official checker can read the log."},
};

/// "exactly one line; each: v['value'] > 0".
std::string demands_of(const KeyRule& rule) {
  std::vector<std::string> demands;
  if (rule.exactly_one)
    demands.emplace_back("exactly one line");
  else if (rule.at_least > 0)
    demands.push_back(
        fmt::format("at least {} line{}", rule.at_least, rule.at_least > 1 ? "s" : ""));
  if (!rule.or_key.empty()) demands.push_back("this key or " + rule.or_key);
  for (const LineTest& one : rule.tests) demands.push_back("each line: " + one.test.text());
  for (const LineTest& one : rule.first) demands.push_back("the first line: " + one.test.text());
  if (rule.some) demands.push_back("at least one line: " + rule.some->test.text());
  return demands.empty() ? "any line" : join(demands, "; ");
}

DocumentTable demands_on(std::string_view key, const std::vector<RuleSet>& rule_sets) {
  DocumentTable table{
      {{"rule set", false}, {"section", false}, {"demands", false}, {"rules", false, 1}}};
  for (const RuleSet& rules : rule_sets)
    for (const auto& [name, section] : rules.sections)
      if (const auto found = section.keys.find(key); found != section.keys.end())
        table.rows.push_back(
            {{rules.version}, {name}, {demands_of(found->second)}, {found->second.where}});
  return table;
}

}  // namespace

Document list_of_checks() {
  Document document{.title = "Checks of MLPerf logs"};
  document.add(Heading{"Strict checks"});
  DocumentTable strict{{{"finding", false}, {"what must hold", false}}};
  for (const StrictRule& rule : strict_rules())
    strict.rows.push_back({{std::string(rule.id)}, {std::string(rule.text)}});
  document.add(std::move(strict));
  document.add(Heading{"Official checks, of any KEY"});
  DocumentTable official{{{"finding", false}, {"what must hold", false}}};
  for (const OfficialKind& kind : kOfficialKinds)
    official.rows.push_back({{std::string(kind.name) + ".KEY"}, {std::string(kind.meaning)}});
  document.add(std::move(official));
  return document;
}

std::optional<Document> explanation(std::string_view id, const std::vector<RuleSet>& rule_sets) {
  Document document{.title = "A check of MLPerf logs"};
  if (const auto rule = std::ranges::find(strict_rules(), id, &StrictRule::id);
      rule != strict_rules().end()) {
    document.add(Heading{std::string(id)});
    document.add(FactList{{{"must hold", std::string(rule->text)},
                           {"source", "benchctl: the official checker does not check it"}}});
    return document;
  }
  const std::size_t point = id.find('.');
  const auto* kind = std::ranges::find(kOfficialKinds, id.substr(0, point), &OfficialKind::name);
  const bool official = point != std::string_view::npos && kind != std::end(kOfficialKinds);
  const std::string_view key = official ? id.substr(point + 1) : id;
  DocumentTable demands = demands_on(key, rule_sets);
  const bool of_no_key = official && kind->name == "parse";
  if (demands.rows.empty() && !of_no_key) return {};
  document.add(Heading{std::string(id)});
  if (official)
    document.add(FactList{{{"must hold", std::string(kind->meaning)},
                           {"severity", "error: the official checker refuses the log"}}});
  if (!demands.rows.empty()) document.add(std::move(demands));
  return document;
}

}  // namespace bench::mlperf
