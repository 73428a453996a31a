#include "mlperf/storage/storage_check.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/json_fields.h"
#include "core/text.h"

namespace bench::mlperf::storage {
namespace {

void count(const std::vector<LocatedFinding>& findings, StorageCounts& counts) {
  for (const LocatedFinding& one : findings) {
    counts.errors += one.finding.severity == Severity::error ? 1U : 0U;
    counts.warnings += one.finding.severity == Severity::warning ? 1U : 0U;
    counts.notes += one.finding.severity == Severity::note ? 1U : 0U;
  }
}

void sort(std::vector<LocatedFinding>& findings) {
  std::ranges::stable_sort(findings, [](const LocatedFinding& a, const LocatedFinding& b) {
    return std::tuple(b.finding.severity, a.finding.rule, a.path) <
           std::tuple(a.finding.severity, b.finding.rule, b.path);
  });
}

using SystemName = std::tuple<std::string, std::string, std::string>;

/// Systems and results must be paired; only where the folders of an organisation are there.
void check_systems(const Tree& tree, int round, Edition edition,
                   std::vector<LocatedFinding>& findings) {
  const Workload none;
  Subject subject{.workload = none, .round = round, .edition = edition};
  std::set<SystemName> described, measured;
  std::set<std::string> organisations;
  for (const SystemFiles& one : tree.systems) {
    described.insert({one.division, one.organisation, one.system});
    organisations.insert(one.division + "/" + one.organisation);
    if (!one.yaml || !one.pdf)
      subject.add("2.1.7", one.folder / (one.system + (one.yaml ? ".yaml" : ".pdf")),
                  std::string("the system's ") + (one.yaml ? "PDF" : "YAML") + " file is missing");
  }
  for (const Workload& workload : tree.workloads) {
    if (!organisations.contains(workload.division + "/" + workload.organisation)) continue;
    const SystemName name{workload.division, workload.organisation, workload.system};
    if (!measured.insert(name).second || described.contains(name)) continue;
    subject.add("2.1.8", workload.folder.parent_path().parent_path(),
                "systems/ does not describe " + printable(workload.system));
  }
  for (const SystemFiles& one : tree.systems)
    if (one.yaml && !measured.contains({one.division, one.organisation, one.system}) &&
        std::ranges::any_of(tree.workloads, [&](const Workload& workload) {
          return workload.division == one.division && workload.organisation == one.organisation;
        }))
      subject.add("2.1.8", one.folder / (one.system + ".yaml"),
                  printable(one.system) + " has no results");
  for (const auto& folder : tree.unknown_categories)
    subject.add("2.1.10", folder, "the folder is no category of results",
                "training, checkpointing, kv_cache, vector_database");
  findings = std::move(subject.found);
}

WorkloadReport check_workload(const Workload& workload, int round, Edition edition) {
  Subject subject = load_subject(workload, round, edition);
  check_leaves(subject);
  switch (workload.category) {
    case Category::training:
      check_ranks(subject);
      check_training(subject);
      break;
    case Category::checkpointing:
      check_ranks(subject);
      check_checkpointing(subject);
      break;
    case Category::kv_cache:
      check_kv_cache(subject);
      break;
    case Category::vector_database:
      check_vector_database(subject);
      break;
  }
  WorkloadReport report{.workload = workload};
  report.score = score_of(subject);
  report.findings = std::move(subject.found);
  sort(report.findings);
  return report;
}

}  // namespace

StorageCounts counts_of(const StorageReport& report) {
  StorageCounts counts{.workloads = report.workloads.size()};
  count(report.findings, counts);
  for (const WorkloadReport& one : report.workloads) {
    StorageCounts own;
    count(one.findings, own);
    counts.clean += own.errors == 0 ? 1U : 0U;
    counts.errors += own.errors;
    counts.warnings += own.warnings;
    counts.notes += own.notes;
  }
  return counts;
}

StorageReport check_storage(const Tree& tree, std::optional<int> round, Edition edition) {
  StorageReport report{.root = tree.root,
                       .round = round.value_or(tree.round),
                       .round_reason = round ? "as asked" : tree.round_reason,
                       .edition = edition};
  check_systems(tree, report.round, edition, report.findings);
  sort(report.findings);
  for (const Workload& workload : tree.workloads)
    report.workloads.push_back(check_workload(workload, report.round, edition));
  return report;
}

namespace {

Json findings_json(const std::vector<LocatedFinding>& findings, const std::filesystem::path& root) {
  Json list = Json::array();
  for (const LocatedFinding& one : findings) {
    Json json = mlperf::to_json(one.finding);
    for (const char* key : {"line", "column", "key", "official"}) json.erase(key);
    json["path"] = one.path.lexically_relative(root).generic_string();
    list.push_back(std::move(json));
  }
  return list;
}

Json score_json(const StorageScore& score) {
  Json figures = Json::array();
  for (const StorageFigure& one : score.figures)
    figures.push_back(
        {{"name", one.name}, {"value", one.value}, {"unit", one.unit}, {"headline", one.headline}});
  return {{"figures", figures},
          {"problem", text_or_null(score.problem)},
          {"runs", score.runs},
          {"hosts", score.hosts ? Json(*score.hosts) : Json()},
          {"accelerators", score.accelerators ? Json(*score.accelerators) : Json()}};
}

}  // namespace

Json to_json(const StorageReport& report) {
  const StorageCounts counts = counts_of(report);
  Json workloads = Json::array();
  for (const WorkloadReport& one : report.workloads)
    workloads.push_back(
        {{"category", to_string(one.workload.category)},
         {"division", text_or_null(one.workload.division)},
         {"organisation", text_or_null(one.workload.organisation)},
         {"system", one.workload.system},
         {"model", one.workload.model},
         {"path", one.workload.folder.lexically_relative(report.root).generic_string()},
         {"findings", findings_json(one.findings, report.root)},
         {"score", score_json(one.score)}});
  return {{"path", report.root.generic_string()},
          {"round", report.round == 2 ? "2.0" : "3.0"},
          {"round_reason", report.round_reason},
          {"edition", report.edition == Edition::current ? "current" : "round"},
          {"workloads", workloads},
          {"findings", findings_json(report.findings, report.root)},
          {"verdict", counts.errors == 0 ? "pass" : "fail"},
          {"counts",
           {{"workloads", counts.workloads},
            {"clean", counts.clean},
            {"errors", counts.errors},
            {"warnings", counts.warnings},
            {"notes", counts.notes}}}};
}

}  // namespace bench::mlperf::storage
