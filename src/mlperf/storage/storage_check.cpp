#include "mlperf/storage/storage_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/json_fields.h"
#include "core/text.h"
#include "mlperf/storage/system_file.h"
#include "mlperf/storage/yaml_file.h"

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

using Descriptions = std::map<SystemName, JsonFile>;

/// Those that can be read.
Descriptions read_descriptions(const Tree& tree) {
  Descriptions found;
  for (const SystemFiles& one : tree.systems)
    if (one.yaml)
      found[{one.division, one.organisation, one.system}] =
          read_yaml_file(one.folder / (one.system + ".yaml"));
  return found;
}

/// The folders of organisations: .../DIVISION/ORGANISATION.
std::set<std::filesystem::path> organisations_of(const Tree& tree) {
  std::set<std::filesystem::path> found;
  for (const Workload& workload : tree.workloads)
    for (std::filesystem::path at = workload.folder; at.has_relative_path(); at = at.parent_path())
      if (at.filename() == "results" && !workload.division.empty()) {
        found.insert(at.parent_path());
        break;
      }
  return found;
}

/// In round 2.0 code was among results and systems.
void check_organisations(Subject& subject, const Tree& tree) {
  for (const std::filesystem::path& organisation : organisations_of(tree)) {
    // Of a part of an organisation nothing is said.
    const bool whole = organisation.native().starts_with(tree.root.native());
    if (whole && !is_there(organisation / "systems"))
      subject.add("2.1.5", organisation, "the folder systems is missing");
    std::error_code error;
    for (std::filesystem::directory_iterator at(organisation, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().native();
      const bool belongs = name == "results" || name == "systems" || name.starts_with('.') ||
                           (subject.round == 2 && name == "code");
      if (!belongs)
        subject.add("2.1.5", at->path(), "the organisation's folder has something else",
                    "results, systems", printable(name));
    }
  }
}

/// Systems and results must be paired; only where the folders of an organisation are there.
void check_systems(const Tree& tree, const Descriptions& descriptions, int round, Edition edition,
                   std::vector<LocatedFinding>& findings) {
  const Workload none;
  Subject subject{.workload = none, .round = round, .edition = edition};
  check_organisations(subject, tree);
  if (round >= 3)
    for (const auto& [name, file] : descriptions)
      check_system_file(subject, file, std::get<2>(name));
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

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !error;
}

/// The pool of an organisation's code: ORGANISATION next to the divisions, or code-images.
std::vector<std::filesystem::path> code_pools(const Workload& workload) {
  for (std::filesystem::path at = workload.folder; at.has_relative_path(); at = at.parent_path())
    if (at.filename() == "results") {
      const auto root = at.parent_path().parent_path().parent_path();
      return {root / workload.organisation, root / "code-images"};
    }
  return {};
}

/// The pointer of an invocation to its code: "md5-tree-v2:64104f04...", or the hash alone.
void check_pointer(Subject& subject, const LoadedLeaf& one,
                   const std::vector<std::filesystem::path>& pools) {
  constexpr std::size_t kHash = 8, kPointer = 256;
  const auto pointer = one.leaf.folder / ".mlps-code-image";
  const std::string whole = beginning_of(pointer, kPointer);
  if (whole.empty())
    return subject.add("2.1.6", one.leaf.folder,
                       "there is no .mlps-code-image: the code of this invocation is unknown");
  const std::string text(trim(whole));
  if (is_pruned(text))
    return subject.add("leaf.pruned", pointer, "the file was replaced before publication");
  const std::string hash = text.substr(text.rfind(':') + 1).substr(0, kHash);
  const bool plain = hash.size() == kHash &&
                     std::ranges::all_of(hash, [](char c) { return is_digit(c) || is_letter(c); });
  const bool there = plain && std::ranges::any_of(pools, [&](const auto& pool) {
                       return is_folder(pool / ("code-" + hash));
                     });
  if (!there)
    subject.add("2.1.6", pointer, "the code of the invocation is not part of the submission",
                "code-" + (plain ? hash : "HASH"), brief(text));
}

/// Only where a pool is there: of a part of a submission nothing can be said.
void check_code(Subject& subject) {
  if (subject.round < 3 || subject.workload.division.empty()) return;
  std::vector<std::filesystem::path> pools = code_pools(subject.workload);
  std::erase_if(pools, [](const auto& pool) { return !is_folder(pool); });
  if (pools.empty()) return;
  for (const auto* phase : {&subject.datasize, &subject.datagen, &subject.run})
    for (const LoadedLeaf& one : *phase)
      if (one.leaf.time_s) check_pointer(subject, one, pools);
}

WorkloadReport check_workload(const Workload& workload, const Descriptions& descriptions, int round,
                              Edition edition) {
  Subject subject = load_subject(workload, round, edition);
  check_leaves(subject);
  check_code(subject);
  const auto described =
      descriptions.find({workload.division, workload.organisation, workload.system});
  const bool dlio =
      workload.category == Category::training || workload.category == Category::checkpointing;
  if (round >= 3 && described != descriptions.end()) {
    for (const LoadedLeaf& one : subject.run)
      if (dlio) check_clients(subject, one, described->second.value);
    if (workload.category == Category::checkpointing) check_sharing(subject, described->second);
  }
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
  const Descriptions descriptions = read_descriptions(tree);
  report.reads_descriptions = reads_yaml();
  check_systems(tree, descriptions, report.round, edition, report.findings);
  sort(report.findings);
  for (const Workload& workload : tree.workloads)
    report.workloads.push_back(check_workload(workload, descriptions, report.round, edition));
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
