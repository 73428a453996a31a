#include "results/verdicts/published/storage_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/disclaimer.h"
#include "core/error.h"
#include "core/text.h"
#include "results/verdicts/published/published_import.h"

namespace bench::mlperf::storage {
namespace {

constexpr const char* kTool = "mlperf_storage";
constexpr double kGibi = 1073741824.0;

/// How a figure of the score is stored.
struct StoredFigure {
  std::string_view figure;
  const char* metric;
  Unit unit;
  Better better = Better::higher;
  double factor = 1.0;  // to the base unit
};

constexpr std::array<StoredFigure, 11> kStoredFigures{{
    {"read", "read_bandwidth", Unit::byte_per_second, Better::higher, kGibi},
    {"write", "write_bandwidth", Unit::byte_per_second, Better::higher, kGibi},
    {"read time", "read_time", Unit::second, Better::lower},
    {"write time", "write_time", Unit::second, Better::lower},
    {"samples", "sample_throughput", Unit::hertz},
    {"accelerator utilisation", "accelerator_utilization", Unit::ratio, Better::higher, 0.01},
    {"throughput", "token_throughput", Unit::hertz},
    {"read P95", "read_latency_p95", Unit::second, Better::lower, 1e-3},
    {"queries", "query_throughput", Unit::hertz},
    {"P99 latency", "latency_p99", Unit::second, Better::lower, 1e-3},
    {"recall", "recall", Unit::ratio, Better::higher, 0.01},
}};
/// A value of "queries".
constexpr std::string_view kFirstRun = "queries of the first run";

/// "option 2 read" is "read" of option 2.
struct FigureName {
  std::string_view name;
  int option = 0;  // 0: none
};

FigureName name_of(const StorageFigure& figure) {
  constexpr std::string_view kOption = "option ";
  const std::string_view name = figure.name;
  if (!name.starts_with(kOption) || name.size() < kOption.size() + 2) return {name};
  return {name.substr(kOption.size() + 2), name[kOption.size()] - '0'};
}

const StoredFigure& stored_figure(std::string_view name) {
  const auto found = std::ranges::find(kStoredFigures, name, &StoredFigure::figure);
  if (found == kStoredFigures.end())
    throw Error(ErrorKind::internal, "no metric for the figure '" + std::string(name) + "'");
  return *found;
}

std::string label_of(const Workload& workload) {
  return fmt::format("{}{}{}, {} {}", printable(workload.organisation),
                     workload.organisation.empty() ? "" : " ", printable(workload.system),
                     to_string(workload.category), printable(workload.model));
}

void put_count(Json& params, const char* name, std::optional<double> count) {
  constexpr double kMost = 1e15;
  if (count && *count >= 1.0 && *count <= kMost) params[name] = static_cast<std::int64_t>(*count);
}

/// What must be equal for figures to be compared.
Json params_of(const WorkloadReport& one) {
  const Workload& workload = one.workload;
  const bool ranks = workload.category == Category::kv_cache;
  Json params = {{"workload", to_string(workload.category)}, {"model", printable(workload.model)}};
  if (!workload.division.empty() && !workload.closed())
    params["division"] = printable(workload.division);
  if (!one.score.accelerator.empty()) params["accelerator"] = printable(one.score.accelerator);
  put_count(params, "hosts", one.score.hosts);
  put_count(params, ranks ? "processes" : "accelerators", one.score.accelerators);
  put_count(params, "vectors", one.score.vectors);
  put_count(params, "dimension", one.score.dimension);
  return params;
}

/// With the number, as equal trials of one begin would be one run.
Json labels_of(const StorageReport& report, const Workload& workload, std::size_t number) {
  Json labels = {{"round", report.round == 2 ? "2.0" : "3.0"},
                 {"system", printable(workload.system)},
                 {"repetition", std::to_string(number + 1)}};
  if (!workload.organisation.empty()) labels["organisation"] = printable(workload.organisation);
  if (!workload.division.empty()) labels["division"] = printable(workload.division);
  return labels;
}

ImportedJob job_of(const StorageReport& report, const WorkloadReport& one, std::size_t number) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const Workload& workload = one.workload;
  const auto& begins = one.score.begins_s;
  ImportedJob job;
  job.run = fmt::format("{} {} {}, run {}", printable(workload.division),
                        printable(workload.organisation), printable(workload.system), number + 1);
  job.time_ns = kNanoseconds * begins[std::min(number, begins.size() - 1)];
  job.tool = kTool;
  job.name = plain_word(std::string(to_string(workload.category)) + "." + workload.model);
  job.hosts = {host_of_system(workload.organisation, workload.system)};
  job.ranks = 1;  // a figure is of the whole system, whose shape is in the parameters
  job.labels = labels_of(report, workload, number);
  return job;
}

/// Rules that a figure must not break: accelerators that waited, data in memory, wrong answers.
constexpr std::array kOfFigures = {"3.3.1", "3.3.2", "3.4.2", "5.3.2"};
/// Those of figures that lack ranks or storage, which round 3.0 itself did not check.
constexpr std::array kOfIncomplete = {"6.3.4", "ranks.missing"};

bool spoils_figures(const Finding& finding) {
  if (std::ranges::count(kOfIncomplete, finding.rule) > 0) return true;
  return finding.severity == Severity::error &&
         (finding.rule.starts_with("mean.") || std::ranges::count(kOfFigures, finding.rule) > 0);
}

/// The first finding by which the figures themselves are wrong.
std::string why_wrong(const WorkloadReport& one) {
  if (!one.score.partial.empty()) return "MLPerf Storage: " + one.score.partial;
  for (const LocatedFinding& located : one.findings) {
    const Finding& finding = located.finding;
    if (finding.severity == Severity::note || !spoils_figures(finding)) continue;
    return fmt::format("MLPerf Storage, rule {}: {}{}", finding.rule, printable(finding.text),
                       finding.found.empty() ? "" : ": " + printable(finding.found));
  }
  return {};
}

void note_errors(const WorkloadReport& one, ImportSink& sink) {
  const auto errors = std::ranges::count_if(one.findings, [](const LocatedFinding& located) {
    return located.finding.severity == Severity::error;
  });
  if (errors > 0)
    sink.note(fmt::format("{}: {} error{}, see `benchctl mlperf storage check {}`",
                          label_of(one.workload), errors, errors == 1 ? "" : "s",
                          printable(one.workload.folder.native())));
}

void import_figure(const StorageReport& report, const WorkloadReport& one,
                   const StorageFigure& figure, const std::string& wrong, ImportSink& sink) {
  const FigureName name = name_of(figure);
  const StoredFigure& stored = stored_figure(name.name);
  Json params = params_of(one);
  if (name.option > 0) params["option"] = name.option;
  for (std::size_t i = 0; i < figure.values.size(); ++i) {
    const double value = figure.values[i] * stored.factor;
    if (!(value >= 0.0) || !std::isfinite(value)) {
      sink.note(fmt::format("{}: {} skipped: {} is no measurement", label_of(one.workload),
                            figure.name, figure.values[i]));
      continue;
    }
    Samples samples = one_value(stored.metric, stored.unit, stored.better, params, value);
    mark_invalid(samples, wrong);
    sink.series(job_of(report, one, i), samples);
  }
}

void import_workload(const StorageReport& report, const WorkloadReport& one, ImportSink& sink) {
  const std::string wrong = why_wrong(one);
  std::size_t runs = 0;
  for (const StorageFigure& figure : one.score.figures) {
    if (figure.name == kFirstRun) continue;
    import_figure(report, one, figure, wrong, sink);
    runs = std::max(runs, figure.values.size());
  }
  for (std::size_t i = 0; i < runs; ++i) {
    const ImportedJob job = job_of(report, one, i);
    sink.facts(job, Facts{"program", {{"program", "mlpstorage"}}});
    sink.facts(job, Facts{"host", {{"product", printable(one.workload.system)}}});
    if (!wrong.empty()) sink.ended(job, Status::invalid, wrong);
  }
  note_errors(one, sink);
}

/// Why a workload cannot be imported; "" if it can.
std::string why_skipped(const WorkloadReport& one) {
  const auto& figures = one.score.figures;
  const bool measured = std::ranges::any_of(
      figures, [](const StorageFigure& figure) { return !figure.values.empty(); });
  if (!measured || one.score.begins_s.empty()) return "no score: " + printable(one.score.problem);
  constexpr std::int64_t kLatest = INT64_MAX / 1'000'000'000;  // in the year 2262
  const auto& begins = one.score.begins_s;
  const auto dated = [](std::int64_t begin) { return begin > 0 && begin < kLatest; };
  if (!std::ranges::all_of(begins, dated))
    return "a run has no date, in its summary or in the name of its folder (YYYYMMDD_HHMMSS)";
  return {};
}

/// What a run can hold once: as in two rounds below one folder.
std::array<std::string, 5> place_of(const Workload& workload) {
  return {workload.division, workload.organisation, workload.system,
          std::string(to_string(workload.category)), workload.model};
}

}  // namespace

void import_storage(const StorageReport& report, ImportSink& sink) {
  std::string skipped;
  std::size_t taken = 0;
  std::map<std::array<std::string, 5>, std::string> folders;
  for (const WorkloadReport& one : report.workloads) {
    std::string why = why_skipped(one);
    if (why.empty()) {
      const std::string folder = printable(one.workload.folder.native());
      const auto [first, is_new] = folders.emplace(place_of(one.workload), folder);
      if (!is_new)
        why = fmt::format("{} has the same names as {}; import them one by one", folder,
                          first->second);
    }
    if (why.empty()) {
      import_workload(report, one, sink);
      ++taken;
      continue;
    }
    skipped = label_of(one.workload) + " skipped: " + why;
    sink.note(skipped);
  }
  if (taken == 0)
    throw Error(ErrorKind::input, "no result to import. " + skipped,
                "`benchctl mlperf storage score` says why a workload has no score");
  sink.note("these results: " + std::string(kNotVerified));
}

}  // namespace bench::mlperf::storage
