#include "results/output/mlperf/storage_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/disclaimer.h"
#include "core/text.h"

namespace bench::mlperf::storage {
namespace {

std::string edition_text(Edition edition) {
  return edition == Edition::current ? "severities as they are today"
                                     : "severities of the round when it closed";
}

std::string round_text(const StorageReport& report) {
  return fmt::format("MLPerf Storage {}.0 ({}); {}; {}", report.round, report.round_reason,
                     edition_text(report.edition), kNotVerified);
}

/// "TTA seahorse-storage"; the system alone outside the layout.
std::string owner_text(const Workload& workload) {
  return workload.organisation.empty()
             ? printable(workload.system)
             : printable(workload.organisation) + " " + printable(workload.system);
}

std::string workload_text(const Workload& workload) {
  return std::string(to_string(workload.category)) + " " + printable(workload.model);
}

std::string figure_text(const StorageFigure& figure) {
  const std::string number = figure.value >= 100 ? fmt::format("{:.0f}", figure.value)
                                                 : fmt::format("{:.3g}", figure.value);
  return figure.unit.empty() ? number : number + " " + figure.unit;
}

/// "read 91.4 GiB/s, write 48.2 GiB/s"; the problem if there is none.
std::string headline_text(const StorageScore& score) {
  std::vector<std::string> parts;
  for (const StorageFigure& one : score.figures)
    if (one.headline) parts.push_back(one.name + " " + figure_text(one));
  return parts.empty() ? "no score: " + score.problem : join(parts, ", ");
}

std::size_t count_of(const std::vector<LocatedFinding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [&](const LocatedFinding& one) { return one.finding.severity == severity; }));
}

DocumentCell count_or_empty(std::size_t count, Tone tone) {
  DocumentCell cell = count == 0 ? DocumentCell{} : count_cell(count);
  cell.tone = tone;
  return cell;
}

DocumentTable workloads_table(const StorageReport& report) {
  DocumentTable table{.columns = {{"organisation, system", false, 0, true},
                                  {"workload", false},
                                  {"division", false, 2},
                                  {"result", false, 1},
                                  {"errors"},
                                  {"warnings"}}};
  for (const WorkloadReport& one : report.workloads)
    table.rows.push_back({{owner_text(one.workload)},
                          {workload_text(one.workload)},
                          {one.workload.division},
                          {headline_text(one.score)},
                          count_or_empty(count_of(one.findings, Severity::error), Tone::bad),
                          count_or_empty(count_of(one.findings, Severity::warning), Tone::unsure)});
  return table;
}

/// Findings of one rule with the same sentence.
struct Group {
  const Finding* finding = nullptr;
  std::vector<const LocatedFinding*> places = {};
};

std::vector<Group> groups_of(const std::vector<LocatedFinding>& findings, bool notes) {
  std::vector<Group> groups;
  for (const LocatedFinding& one : findings) {
    if (one.finding.severity == Severity::note && !notes) continue;
    const auto alike = [&](const Group& group) {
      return std::tie(group.finding->rule, group.finding->text, group.finding->severity) ==
             std::tie(one.finding.rule, one.finding.text, one.finding.severity);
    };
    auto found = std::ranges::find_if(groups, alike);
    if (found == groups.end()) found = groups.insert(groups.end(), {&one.finding});
    found->places.push_back(&one);
  }
  return groups;
}

std::string place_text(const LocatedFinding& one, const std::filesystem::path& root) {
  std::string text = printable(one.path.lexically_relative(root).generic_string());
  if (!one.finding.expected.empty() || !one.finding.found.empty())
    text += fmt::format(
        ": {}{}{}", one.finding.expected.empty() ? "" : "expected ", one.finding.expected,
        one.finding.found.empty()
            ? ""
            : (one.finding.expected.empty() ? "" : ", ") + ("found " + one.finding.found));
  return text;
}

Tone tone_of_severity(Severity severity) {
  return severity == Severity::error     ? Tone::bad
         : severity == Severity::warning ? Tone::unsure
                                         : Tone::faint;
}

ItemList items_of(const std::vector<LocatedFinding>& findings, const std::filesystem::path& root,
                  bool notes) {
  constexpr std::size_t kPlaces = 6;
  ItemList list;
  for (const Group& group : groups_of(findings, notes)) {
    const Severity severity = group.finding->severity;
    ListItem item{std::vector<TextSpan>{
        {std::string(mlperf::to_string(severity)), tone_of_severity(severity)},
        {" " + group.finding->rule + ": " + group.finding->text, Tone::none}}};
    for (std::size_t i = 0; i < std::min(kPlaces, group.places.size()); ++i)
      item.details.emplace_back(place_text(*group.places[i], root));
    if (group.places.size() > kPlaces)
      item.details.emplace_back(fmt::format("and {} more", group.places.size() - kPlaces));
    list.items.push_back(std::move(item));
  }
  return list;
}

/// The rules with most errors.
ItemList reasons(const StorageReport& report) {
  std::map<std::string, std::size_t> by_rule;
  const auto add = [&](const std::vector<LocatedFinding>& findings) {
    for (const LocatedFinding& one : findings)
      if (one.finding.severity == Severity::error) ++by_rule[one.finding.rule];
  };
  add(report.findings);
  for (const WorkloadReport& one : report.workloads) add(one.findings);
  std::vector<std::pair<std::string, std::size_t>> sorted(by_rule.begin(), by_rule.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t kReasons = 3;
  ItemList list;
  for (std::size_t i = 0; i < std::min(kReasons, sorted.size()); ++i)
    list.items.push_back(
        {fmt::format("{}, broken {}: {}", sorted[i].first,
                     sorted[i].second == 1 ? "once" : fmt::format("{} times", sorted[i].second),
                     storage_rule(sorted[i].first).what)});
  return list;
}

Headline headline(const StorageReport& report) {
  const StorageCounts counts = counts_of(report);
  const bool pass = counts.errors == 0;
  Headline line{.verdict = pass ? "PASS" : "FAIL",
                .tone = pass ? Tone::good : Tone::bad,
                .text = fmt::format("{} of {} workloads without an error; {} errors, {} warnings",
                                    counts.clean, counts.workloads, counts.errors, counts.warnings),
                .reasons = reasons(report)};
  if (!pass) line.next_step = "benchctl mlperf storage explain RULE says how a rule is computed";
  return line;
}

}  // namespace

Document to_document(const StorageReport& report, bool notes) {
  Document document{.title = "MLPerf Storage"};
  document.add(headline(report));
  document.add(Lines{{StyledText(round_text(report), Tone::faint)}});
  if (!report.reads_descriptions)
    document.add(Note{"systems/*.yaml was not read: this benchctl was built without yaml-cpp"});
  document.add(workloads_table(report));
  if (!report.findings.empty()) {
    document.add(Heading{"Folders of the submission"});
    document.add(items_of(report.findings, report.root, notes));
  }
  for (const WorkloadReport& one : report.workloads) {
    ItemList items = items_of(one.findings, report.root, notes);
    if (items.items.empty()) continue;
    document.add(Heading{owner_text(one.workload) + ", " + workload_text(one.workload)});
    document.add(std::move(items));
  }
  return document;
}

Document scores_document(const StorageReport& report) {
  Document document{.title = "MLPerf Storage scores"};
  document.add(Lines{{StyledText(round_text(report), Tone::faint)}});
  DocumentTable table{.columns = {{"organisation, system", false, 0, true},
                                  {"workload", false, 0, true},
                                  {"division", false, 3},
                                  {"figure", false},
                                  {"value"},
                                  {"unit", false},
                                  {"hosts", true, 2},
                                  {"accelerators", true, 2}}};
  const auto number = [](const std::optional<double>& value) {
    return value ? numeric(*value, shown(*value)) : DocumentCell{};
  };
  for (const WorkloadReport& one : report.workloads) {
    const StorageScore& score = one.score;
    for (const StorageFigure& figure : score.figures)
      table.rows.push_back({{owner_text(one.workload)},
                            {workload_text(one.workload)},
                            {one.workload.division},
                            {figure.name},
                            numeric(figure.value, fmt::format("{:.3f}", figure.value)),
                            {figure.unit},
                            number(score.hosts),
                            number(score.accelerators)});
    const std::string note =
        score.problem.empty() ? "runs: " + score.runs : "no score: " + score.problem;
    if (score.figures.empty())
      table.rows.push_back({{owner_text(one.workload)},
                            {workload_text(one.workload)},
                            {one.workload.division},
                            {"-"},
                            {},
                            {},
                            {},
                            {}});
    table.notes[table.rows.size() - 1].emplace_back(note);
  }
  document.add(std::move(table));
  return document;
}

Document rules_document(const std::vector<StorageRule>& rules) {
  Document document{.title = "Rules of MLPerf Storage"};
  const auto severity = [](Severity one) { return std::string(mlperf::to_string(one)); };
  if (rules.size() == 1) {
    const StorageRule& rule = rules.front();
    document.add(Heading{std::string(rule.id) + ": " + std::string(rule.what)});
    document.add(FactList{{{"computed from", std::string(rule.how)},
                           {"severity", rule.closed_round == rule.current
                                            ? severity(rule.current)
                                            : severity(rule.closed_round) + " in round 3.0, " +
                                                  severity(rule.current) + " today"},
                           {"source", is_digit(rule.id.front())
                                          ? "Rules.md of mlcommons/storage, section " +
                                                std::string(rule.id.substr(0, rule.id.find('-')))
                                          : "benchctl: what files say of each other"}}});
    return document;
  }
  DocumentTable table{
      .columns = {
          {"rule", false}, {"what it asks", false}, {"round 3.0", false, 1}, {"today", false, 1}}};
  for (const StorageRule& rule : rules)
    table.rows.push_back({{std::string(rule.id)},
                          {std::string(rule.what)},
                          {severity(rule.closed_round)},
                          {severity(rule.current)}});
  document.add(std::move(table));
  return document;
}

}  // namespace bench::mlperf::storage
