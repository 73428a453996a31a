#include "results/output/run/cases_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "core/text.h"
#include "results/output/run/curve.h"
#include "results/output/run/gemm_lines.h"
#include "results/output/run/loader_lines.h"
#include "results/output/run/result_cells.h"
#include "results/output/run/telemetry_lines.h"
#include "results/run/dimensions.h"
#include "results/run/job_results.h"
#include "results/run/metric_catalogue.h"

namespace bench {
namespace {

constexpr std::size_t kFewRepeats = 6;

std::string key_without_repeat(const Series& series) {
  return dump(Json::array({series.metric, series.params, series.over, series.host, series.rank,
                           series.ranks, series.device}));
}

bool all_ok(const Rows& rows) {
  for (const Result* row : rows)
    if (row->series.outcome != Status::ok) return false;
  return true;
}

/// A repeat with mostly disturbed samples counts as a disturbed sample.
Samples medians(const Rows& repeats) {
  const Series& first = repeats.front()->series;
  Samples samples;
  samples.metric = first.metric;
  samples.unit = first.unit;
  samples.better = first.better;
  samples.limit = first.limit;
  for (const Result* repeat : repeats) {
    samples.values.push_back(repeat->series.median);
    samples.flags.push_back(clean_share(repeat->series) < 0.5 ? kStolen : kClean);
  }
  return samples;
}

Result fold(const Rows& repeats) {
  const Result& first = *repeats.front();
  Result folded{first.series, first.verdict};
  const Series summary = summarise(medians(repeats), PlannedJob{});
  Series& series = folded.series;
  series.n = summary.n;
  series.clean = summary.clean;
  series.median = summary.median;
  series.low = summary.low;
  series.high = summary.high;
  series.unfiltered_median = summary.unfiltered_median;
  series.of_limit = summary.of_limit;
  series.of_limit_at_clock = kNoValue;  // the repeats held clocks of their own
  series.outcome = summary.outcome;
  series.reason = summary.reason;
  series.flags.clear();
  series.repeat = 0;
  series.params["repeats"] = repeats.size();
  for (const Result* repeat : repeats)
    if (repeat->verdict)
      folded.verdict = folded.verdict ? worse(*folded.verdict, *repeat->verdict) : repeat->verdict;
  return folded;
}

}  // namespace

std::vector<Result> fold_repeats(const Rows& rows) {
  std::map<std::string, Rows> groups;
  for (const Result* row : rows) groups[key_without_repeat(row->series)].push_back(row);
  std::vector<Result> folded;
  for (const Result* row : rows) {
    const Rows& group = groups[key_without_repeat(row->series)];
    if (group.size() <= kFewRepeats || !all_ok(group))
      folded.push_back(*row);
    else if (group.front() == row)
      folded.push_back(fold(group));
  }
  return folded;
}

namespace {

// What drivers reported of a case's devices, each once.

/// "Xid 63: ... on GPU-1234, rank 0 of 03.products.0"; red for a fatal one.
Lines fault_lines(const std::vector<const JobResult*>& jobs) {
  std::set<std::string> shown;
  Lines list;
  for (const JobResult* job : jobs)
    for (const Json& fault : job->faults) {
      const std::string line = fmt::format(
          "{} on {}, rank {} of job {}", text_field(fault, "text", "fault"),
          text_field(fault, "device", "unknown device"), integer_field(fault, "rank"), job->job.id);
      if (shown.insert(line).second)
        list.lines.push_back({line, field(fault, "fatal") == true ? Tone::bad : Tone::unsure});
    }
  return list;
}

constexpr std::size_t kNamedJobs = 4;

struct Case {
  std::string name;
  std::vector<const JobResult*> jobs;
  Rows measured;
  Rows ends;  // ends of jobs that no series shows
};

std::vector<Case> cases_of(const RunSummary& report) {
  std::vector<Case> cases;
  std::map<std::string, std::size_t> place;
  for (const JobResult& job : report.jobs) {
    if (!job.job.search_of.empty()) continue;  // evidence of the localisation, which shows it
    const auto [slot, is_new] = place.try_emplace(job.job.case_name, cases.size());
    if (is_new) cases.push_back({job.job.case_name, {}, {}, {}});
    cases[slot->second].jobs.push_back(&job);
  }
  for (const Result& result : report.results) {
    const auto slot = place.find(result.series.case_name);
    if (slot == place.end()) continue;
    Case& one = cases[slot->second];
    (result.series.metric.empty() ? one.ends : one.measured).push_back(&result);
  }
  return cases;
}

std::string ranks_text(const Case& one) {
  const int ranks = one.jobs.front()->job.ranks;
  for (const JobResult* job : one.jobs)
    if (job->job.ranks != ranks) return "";
  return ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks);
}

Heading title(const Case& one, const Dimensions& all) {
  const PlannedJob& job = one.jobs.front()->job;
  std::vector<std::string> parts;
  if (!job.probe.empty() && job.probe != one.name) parts.push_back("probe " + job.probe);
  if (const std::string ranks = ranks_text(one); !ranks.empty()) parts.push_back(ranks);
  if (job.device != "host") parts.push_back("device " + job.device);
  if (!all.common.empty()) parts.push_back(dimension_list(all.common));
  return {{{{one.name}, {"  " + join(parts, ", "), Tone::faint}}}};
}

/// Words to the left, numbers to the right.
bool is_word(const std::string& name, const Dimensions& dims) {
  return std::any_of(dims.of_row.begin(), dims.of_row.end(),
                     [&](const Json& row) { return row.contains(name) && !row[name].is_number(); });
}

std::vector<DocumentColumn> case_columns(const std::vector<std::string>& varying,
                                         const Dimensions& dims) {
  std::vector<DocumentColumn> list = {{"metric", false, 0, true}};
  for (const std::string& name : varying)
    list.push_back({dimension_title(name), !is_word(name, dims)});
  list.insert(list.end(), {{"median"},
                           {"95 % interval", true, 1},
                           {"n"},
                           {"clean"},
                           {"limit", true, 3},
                           {"of limit"},
                           {"at clock", true, 2},
                           {"", false}});
  return list;
}

std::vector<DocumentCell> cells(const Result& result, const Json& own,
                                const std::vector<std::string>& varying, Footnotes& notes) {
  const Series& series = result.series;
  std::vector<DocumentCell> row = {{short_metric(series)}};
  for (const std::string& name : varying)
    row.push_back({own.contains(name) ? dimension_text(name, own[name]) : ""});
  notes.note_limit(series);
  const std::vector<DocumentCell> rest = {median_cell(series),
                                          {interval_text(series)},
                                          {series.n > 0 ? std::to_string(series.n) : ""},
                                          notes.clean_cell(series),
                                          {limit_text(series)},
                                          numeric(series.of_limit, of_limit_text(series)),
                                          {at_clock_text(series)},
                                          outcome_cell(result)};
  row.insert(row.end(), rest.begin(), rest.end());
  return row;
}

DocumentTable table_of(const Rows& rows, const Json& common, Footnotes& notes) {
  const Dimensions dims = dimensions(rows);
  std::vector<std::string> shown = dims.varying;
  for (const auto& [name, value] : dims.common.items())  // common here, but not in the whole case
    if (!common.contains(name)) shown.push_back(name);
  DocumentTable table{case_columns(shown, dims)};
  std::string last_reason;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Series& series = rows[i]->series;
    const bool footnoted = series.outcome == Status::ok && series.reason.starts_with("crowded: ");
    if (!series.reason.empty() && !footnoted && series.reason != last_reason)
      table.notes[i].push_back({series.reason, Tone::unsure});
    table.rows.push_back(cells(*rows[i], dims.of_row[i], shown, notes));
    last_reason = series.reason;
  }
  return table;
}

/// Groups rows by metric, in order of first appearance.
Rows by_metric(const Rows& rows) {
  std::vector<std::string> order;
  std::map<std::string, Rows> groups;
  for (const Result* row : rows) {
    Rows& group = groups[row->series.metric];
    if (group.empty()) order.push_back(row->series.metric);
    group.push_back(row);
  }
  Rows sorted;
  for (const std::string& metric : order)
    sorted.insert(sorted.end(), groups[metric].begin(), groups[metric].end());
  return sorted;
}

/// "failed: 3 jobs (02.a.0, ...): reason", equal reasons together.
Lines end_lines(const Rows& ends) {
  std::map<std::pair<Status, std::string>, std::vector<std::string>> groups;
  for (const Result* end : ends)
    groups[{end->series.outcome, end->series.reason}].push_back(end->series.job);
  Lines list;
  for (auto& [key, jobs] : groups) {
    const std::size_t count = jobs.size();
    if (count > kNamedJobs) {
      jobs.resize(kNamedJobs);
      jobs.push_back("...");
    }
    list.lines.push_back({fmt::format("{}: {} ({}): {}", to_string(key.first),
                                      count == 1 ? "1 job" : fmt::format("{} jobs", count),
                                      join(jobs, ", "), key.second),
                          tone_of(key.first)});
  }
  return list;
}

FactList loader_facts_of(const Case& one, const RunSummary& report) {
  std::vector<std::pair<std::string, const Json*>> loaders;
  for (const JobResult* job : one.jobs)
    if (const auto facts = report.loaders.find(job->job.id); facts != report.loaders.end())
      loaders.emplace_back(job->job.id, &facts->second);
  return loader_facts(loaders, one.measured);
}

/// Of the case's first job that tried libraries.
Lines gemm_lines_of(const Case& one, const RunSummary& report) {
  for (const JobResult* job : one.jobs)
    if (const auto facts = report.gemm_libraries.find(job->job.id);
        facts != report.gemm_libraries.end())
      return gemm_lines(facts->second);
  return {};
}

/// Takes out the rows that only repeat another metric of the case (traffic: bandwidth).
Rows take_repeating(Rows& rows) {
  std::set<std::string> metrics;
  for (const Result* row : rows) metrics.insert(row->series.metric);
  const auto stays = [&](const Result* row) {
    const std::string same = declaration(row->series.metric).same_as;
    return same.empty() || !metrics.contains(same) || row->series.outcome != Status::ok ||
           row->verdict;
  };
  const auto repeating = std::ranges::stable_partition(rows, stays);
  Rows taken(repeating.begin(), repeating.end());
  rows.erase(repeating.begin(), repeating.end());
  return taken;
}

/// On pages a table of their own; in the terminal only named.
void add_repeating(Document& document, const Rows& rows, const Json& common, Footnotes& notes) {
  if (rows.empty()) return;
  std::set<std::string> names;
  for (const Result* row : rows) names.insert(short_metric(row->series));
  document.add(table_of(rows, common, notes), Audience::page)
      .add(Lines{{{"also measured: " + join({names.begin(), names.end()}, ", ") + " (--verbose)",
                   Tone::faint}}},
           Audience::terminal);
}

void add_case(Document& document, const Case& one, const RunSummary& report) {
  const std::vector<Result> folded = fold_repeats(one.measured);
  Rows every;
  for (const Result& result : folded) every.push_back(&result);
  Rows rows = by_metric(every);
  const Rows repeating = take_repeating(rows);
  const Rows sweep = swept(rows);
  const Dimensions all = dimensions(sweep);
  Footnotes notes;
  const Split split = find_curves(sweep, all);
  std::set<const Result*> drawn(sweep.begin(), sweep.end());
  for (const Result* row : split.rest) drawn.erase(row);
  Rows tabulated = rows;  // in their order
  std::erase_if(tabulated, [&](const Result* row) { return drawn.contains(row); });
  document.add(title(one, all)).add(table_of(tabulated, all.common, notes));
  for (const Curve& curve : split.curves) add_curve(document, curve, notes);
  add_repeating(document, repeating, all.common, notes);
  if (rows.empty() && one.ends.empty()) document.add(Lines{{"ok, no metrics"}});
  document.add(gemm_lines_of(one, report))
      .add(loader_facts_of(one, report))
      .add(end_lines(one.ends))
      .add(fault_lines(one.jobs))
      .add(notes.lines())
      .add(telemetry_lines(one.measured));
}

}  // namespace

void add_cases(Document& document, const RunSummary& report) {
  for (const Case& one : cases_of(report)) add_case(document, one, report);
}

}  // namespace bench
