#include "results/output/run/tidy_csv.h"

#include <set>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/csv_cell.h"

namespace bench {
namespace {

constexpr std::string_view kColumns =
    "run,time,suite,case,metric,value,low,high,unit,better,n,clean,limit,limit_kind,of_limit,"
    "outcome,reason,verdict,host,device,rank,ranks,repeat,over,cpu_share,steal_share,throttled_s,"
    "others_share,clock_hz";

std::string optional_cell(const std::optional<double>& value) {
  return value ? csv_number(*value) : "";
}

/// Numbers as numbers, texts without quotes of JSON.
std::string tidy_cell(const Json& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end() || found->is_null()) return "";
  return found->is_number() ? dump(*found) : csv_cell(text_of(*found));
}

/// A parameter of the series overrides the job's, which may be a list that the job went through.
Json parameters(const PlannedJobs& jobs, const Series& series) {
  const auto job = jobs.find(series.job);
  Json all = job == jobs.end() ? Json::object() : job->second->params;
  if (!all.is_object()) all = Json::object();
  if (series.params.is_object()) all.update(series.params);
  return all;
}

std::string common_cells(const RunSummary& run, const Result& result) {
  const Series& s = result.series;
  const std::vector<std::string> cells = {
      csv_cell(run.run),
      format_time(s.time_ns),
      csv_cell(run.suite),
      csv_cell(s.case_name),
      csv_cell(s.metric),
      csv_number(s.median),
      csv_number(s.low),
      csv_number(s.high),
      std::string(to_string(s.unit)),
      std::string(to_string(s.better)),
      std::to_string(s.n),
      std::to_string(s.clean),
      s.limit ? csv_number(s.limit->value) : "",
      s.limit ? std::string(to_string(s.limit->kind)) : "",
      csv_number(s.of_limit),
      std::string(to_string(s.outcome)),
      csv_cell(s.reason),
      result.verdict ? std::string(to_string(*result.verdict)) : "",
      csv_cell(s.host),
      csv_cell(s.device),
      std::to_string(s.rank),
      std::to_string(s.ranks),
      std::to_string(s.repeat),
      csv_cell(s.over),
      optional_cell(s.quality.cpu_share),
      optional_cell(s.quality.steal_share),
      optional_cell(s.quality.throttled_s),
      optional_cell(s.quality.others_share),
      optional_cell(s.quality.clock_hz)};
  return join(cells, ",");
}

void add_names(const Json& values, std::set<std::string>& names) {
  for (const auto& [name, value] : values.items()) names.insert(name);
}

}  // namespace

std::string to_tidy_csv(const std::vector<RunSummary>& runs) {
  std::set<std::string> labels, params;
  for (const RunSummary& run : runs) {
    add_names(run.labels, labels);
    const PlannedJobs jobs = jobs_by_id(run);
    for (const Result& result : run.results)
      if (!result.series.metric.empty()) add_names(parameters(jobs, result.series), params);
  }
  std::string text(kColumns);
  for (const std::string& name : labels) text += "," + csv_cell("label." + name);
  for (const std::string& name : params) text += "," + csv_cell("param." + name);
  text += "\r\n";
  for (const RunSummary& run : runs) {
    const PlannedJobs jobs = jobs_by_id(run);
    for (const Result& result : run.results) {
      if (result.series.metric.empty()) continue;
      text += common_cells(run, result);
      for (const std::string& name : labels) text += "," + tidy_cell(run.labels, name);
      const Json all = parameters(jobs, result.series);
      for (const std::string& name : params) text += "," + tidy_cell(all, name);
      text += "\r\n";
    }
  }
  return text;
}

}  // namespace bench
