#include "results/output/run/run_report.h"

#include <utility>

#include "core/fields.h"
#include "core/json_fields.h"
#include "results/output/run/result_json.h"
#include "results/output/verdicts/diagnosis_json.h"

namespace bench {
namespace {

// The JSON form of a run report; its keys are a contract (schemas/report.json).

Json to_json(const JobResult& result, const RunReport& report) {
  const auto loader = report.loaders.find(result.job.id);
  const auto libraries = report.gemm_libraries.find(result.job.id);
  return {{"job", result.job.id},
          {"case", result.job.case_name},
          {"probe", result.job.probe},
          {"part", result.job.part},
          {"params", result.job.params},
          {"hosts", result.job.hosts},
          {"ranks", result.job.ranks},
          {"outcome", to_string(result.outcome)},
          {"reason", text_or_null(result.reason)},
          {"seconds", number_or_null(result.seconds)},
          {"loader", loader == report.loaders.end() ? Json() : loader->second},
          {"gemm_libraries", libraries == report.gemm_libraries.end()
                                 ? Json()
                                 : array_field(libraries->second, "trials")},
          {"device_faults", result.faults}};
}

Json bound(const std::optional<double>& value) { return value ? number_or_null(*value) : Json(); }

Json to_json(const GateResult& result, const RunReport& report) {
  const Series* series = result.series ? &report.results[*result.series].series : nullptr;
  return {{"case", result.gate.case_name},
          {"metric", result.gate.metric},
          {"where", result.gate.where},
          {"min", bound(result.gate.min)},
          {"max", bound(result.gate.max)},
          {"min_of_limit", bound(result.gate.min_of_limit)},
          {"band", text_or_null(result.gate.band)},
          {"source", text_or_null(result.gate.source)},
          {"verdict", to_string(result.verdict)},
          {"reason", text_or_null(result.reason)},
          {"job", series ? Json(series->job) : Json()},
          {"params", series ? series->params : Json()}};
}

Json machines_json(const RunReport& report) {
  Json json = Json::object();
  for (const Machine& machine : report.machines) {
    json[machine.host] = machine.facts;
    json[machine.host]["clock_hz"] = number_or_null(machine.clock_hz);
  }
  return json;
}

/// By name; of several with one name (hosts that differ) the later ones get a number.
Json programs_json(const RunReport& report) {
  Json json = Json::object();
  for (const Json& program : report.programs) {
    const std::string name = text_field(program, "name", "bench-rank");
    std::string key = name;
    for (int i = 2; json.contains(key); ++i) key = name + " " + std::to_string(i);
    json[key] = program;
  }
  return json;
}

/// Warnings on hosts ("HOST: text" with several hosts), then on the run's records.
Json warnings(const RunReport& report) {
  Json list = Json::array();
  for (const Machine& machine : report.machines)
    for (const std::string& warning : machine.warnings)
      list.push_back(report.machines.size() > 1 ? machine.host + ": " + warning : warning);
  for (const std::string& warning : report.warnings) list.push_back(warning);
  return list;
}

/// Everything except the long lists.
Json head(const RunReport& report) {
  return {{"run", report.run},
          {"suite", report.suite},
          {"digest", text_or_null(report.digest)},
          {"time_ns", report.time_ns},
          {"seconds", report.seconds >= 0.0 ? number_or_null(report.seconds) : Json()},
          {"labels", report.labels},
          {"outcome", to_string(report.outcome)},
          {"exit_code", static_cast<int>(report.exit_code)},
          {"unjudged", report.unjudged},
          {"finished", report.finished},
          {"interrupted", report.interrupted},
          {"machine", machines_json(report)},
          {"programs", programs_json(report)},
          {"hashes", hashes_json(report.hashes)},
          {"localisation", localisation_json(report.localisations)},
          {"stragglers", stragglers_json(report.stragglers)},
          {"diagnosis", diagnosis::to_json(report.diagnoses)},
          {"bands", to_json(report.bands)},
          {"warnings", warnings(report)}};
}

/// Borrows the report.
JsonLists lists_of(const RunReport& report) {
  return {
      {"jobs", json_list(report.jobs, [&](const JobResult& job) { return to_json(job, report); })},
      {"results", json_list(report.results, [](const Result& one) { return to_json(one); })},
      {"gates",
       json_list(report.gates, [&](const GateResult& gate) { return to_json(gate, report); })}};
}

}  // namespace

Json to_json(const RunReport& report) { return whole_document(head(report), lists_of(report)); }

void write_json(const RunReport& report, const Write& write) {
  write_document(head(report), lists_of(report), write);
}

RunReport make_run_report(const RunRecords& run) {
  return make_run_report(run, make_run_summary(run));
}

RunReport make_run_report(const RunRecords& run, RunSummary summary) {
  RunReport report{std::move(summary), {}, {}, {}, {}};
  report.diagnoses = diagnosis::diagnose_run(run);
  report.stragglers = stragglers(run);
  report.localisations = localise(report, run.plan);
  const BandCatalogue& bands = BandCatalogue::installed();
  report.bands = compare_with_bands(banded_figures(report, bands), bands);
  return report;
}

}  // namespace bench
