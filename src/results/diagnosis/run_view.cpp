#include "results/diagnosis/run_view.h"

#include "core/record.h"

namespace bench::diagnosis {
namespace {

const Json& found_in(const std::map<std::pair<std::string, std::string>, const Json*>& all,
                     const std::string& whose, const std::string& topic) {
  static const Json none = Json::object();
  const auto found = all.find({whose, topic});
  return found == all.end() || !found->second->is_object() ? none : *found->second;
}

bool holds_all(const Json& params, const Json& wanted) {
  for (const auto& [key, value] : wanted.items())
    if (field(params, key.c_str()) != value) return false;
  return true;
}

}  // namespace

RunView::RunView(const RunRecords& run)
    : run_(run), jobs_(job_results(run)), series_(run, jobs_), telemetry_(run) {
  CounterSums sums;
  for (const Record& record : run.records) {
    if (const auto* facts = std::get_if<Facts>(&record.body)) {
      facts_[{record.job, facts->topic}] = &facts->facts;
      host_facts_[{record.host, facts->topic}] = &facts->facts;
      if (facts->topic == "counters")
        for (const Json& host : array_field(facts->facts, "hosts")) sums.add(host, record.job, "");
    }
    if (const auto* chunk = std::get_if<Chunk>(&record.body))
      chunks_[{record.job, chunk->name}] = chunk;
  }
  counters_ = sums.counters();
}

const Json& RunView::facts(const std::string& job, const std::string& topic) const {
  return found_in(facts_, job, topic);
}

const Json& RunView::facts_of_host(const std::string& host, const std::string& topic) const {
  return found_in(host_facts_, host, topic);
}

const Chunk* RunView::chunk(const std::string& job, const std::string& name) const {
  const auto found = chunks_.find({job, name});
  return found == chunks_.end() ? nullptr : found->second;
}

std::vector<double> RunView::values(const Series& series) const {
  if (!series.record) return {};
  return std::get<Samples>(run_.records[*series.record].body).values;
}

bool is_of(const Series& series, const std::string& metric, const Json& params) {
  return series.outcome == Status::ok && series.metric.ends_with("." + metric) &&
         holds_all(series.params, params);
}

const Series* find_series(const std::vector<Series>& all, const std::string& metric,
                          const Json& params) {
  for (const Series& series : all)
    if (is_of(series, metric, params)) return &series;
  return nullptr;
}

double median_of(const std::vector<Series>& all, const std::string& metric, const Json& params) {
  const Series* found = find_series(all, metric, params);
  return found == nullptr ? kNoValue : found->median;
}

std::string source_of(const JobResult& job, const std::string& metric) {
  return job.job.case_name + ": " + metric;
}

}  // namespace bench::diagnosis
