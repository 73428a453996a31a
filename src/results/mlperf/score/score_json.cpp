#include <cmath>

#include "core/text.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/score/submission_score.h"

namespace bench::mlperf {
namespace {

Json known(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json known(const std::optional<double>& value) { return value ? known(*value) : Json(); }
Json known(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

Json run_json(const ScoredRun& run) {
  const RunFacts& facts = run.read.facts;
  return {{"file", run.read.file.filename().string()},
          {"minutes", known(run.minutes)},
          {"use", to_string(run.use)},
          {"compliant", run.read.compliant},
          {"why", text_or_null(run.why)},
          {"status", text_or_null(facts.status)},
          {"run_start_ms", known(facts.run_start_ms)},
          {"run_stop_ms", known(facts.run_stop_ms)},
          {"quality", facts.last_before_stop ? facts.last_before_stop->value.to_json() : Json()},
          {"samples_to_converge", known(run.converged)},
          {"global_batch_size", known(facts.global_batch_size)}};
}

Json window_json(const EntryScore& entry) {
  if (!entry.window) return nullptr;
  Json means = Json::array(), files = Json::array();
  for (const double mean : entry.window->means) means.push_back(known(mean));
  for (const std::size_t run : entry.window->runs)
    files.push_back(entry.runs[run].read.file.filename().string());
  return {{"first", entry.window->first}, {"files", files}, {"olympic_means_minutes", means}};
}

Json what_if_json(const WhatIf& what_if) {
  Json json = to_json(what_if.test);
  json["minutes_at_reference"] = known(what_if.minutes_at_reference);
  json["note"] = kDerived;
  return json;
}

template <class T, class F>
Json list(const std::vector<T>& items, const F& make) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(make(item));
  return result;
}

Json entry_json(const EntryScore& entry) {
  return {{"submitter", entry.submitter},
          {"system", entry.system},
          {"benchmark", entry.benchmark},
          {"folder", entry.folder.string()},
          {"division", entry.division},
          {"ruleset", entry.ruleset},
          {"ruleset_reason", entry.ruleset_reason},
          {"required_runs", entry.required_runs > 0 ? Json(entry.required_runs) : Json()},
          {"runs", list(entry.runs, run_json)},
          {"window", window_json(entry)},
          {"olympic_mean_minutes", known(entry.olympic_mean_minutes)},
          {"scaling_factor", entry.scaling_factor},
          {"scaling_factor_file", known(entry.file_factor)},
          {"score_minutes", known(entry.score_minutes)},
          {"provisional_minutes", known(entry.provisional_minutes)},
          {"rcp", entry.rcp ? to_json(*entry.rcp) : Json()},
          {"rcp_why", text_or_null(entry.rcp_why)},
          {"what_if", list(entry.what_if, what_if_json)},
          {"valid", entry.valid()},
          {"problems", entry.problems},
          {"warnings", entry.warnings}};
}

Json row_json(const SubmissionScore& score, const SystemRow& row) {
  Json minutes = Json::object();
  for (const std::string& benchmark : score.benchmarks) minutes[benchmark] = nullptr;
  for (const std::size_t entry : row.entries)
    minutes[score.entries[entry].benchmark] = known(score.entries[entry].score_minutes);
  const SystemDescription none, &system = row.description ? *row.description : none;
  return {{"division", text_or_null(score.entries[row.entries.front()].division)},
          {"availability", text_or_null(system.status)},
          {"submitter", row.submitter},
          {"system", row.system},
          {"system_name", text_or_null(system.system_name)},
          {"number_of_nodes", known(system.nodes)},
          {"accelerator_model_name", text_or_null(system.accelerator)},
          {"accelerators_count", known(system.accelerators())},
          {"framework", text_or_null(system.framework)},
          {"score_minutes", minutes}};
}

}  // namespace

Json to_json(const SubmissionScore& score) {
  return {
      {"path", score.root.string()},
      {"entries", list(score.entries, entry_json)},
      {"table", list(score.systems, [&](const SystemRow& row) { return row_json(score, row); })},
      {"note", kNotVerified},
      {"exit_code", static_cast<int>(score.exit_code)},
      {"warnings", score.warnings}};
}

}  // namespace bench::mlperf
