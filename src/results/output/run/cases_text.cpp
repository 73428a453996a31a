#include "results/output/run/cases_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/json_fields.h"
#include "core/text.h"
#include "results/output/document/text_style.h"
#include "results/output/run/curve.h"
#include "results/output/run/loader_lines.h"
#include "results/output/run/result_cells.h"
#include "results/output/run/telemetry_text.h"
#include "results/run/dimensions.h"
#include "results/run/job_results.h"

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

/// "Xid 63: ... on GPU-1234, rank 0 of 03.products.0"; red for a fatal one. "" for none.
std::string faults_text(const std::vector<const JobResult*>& jobs, std::size_t indent,
                        const TextStyle& style) {
  std::set<std::string> shown;
  std::string text;
  for (const JobResult* job : jobs)
    for (const Json& fault : job->faults) {
      const std::string line =
          printable(fmt::format("{} on {}, rank {} of job {}", text_field(fault, "text", "fault"),
                                text_field(fault, "device", "unknown device"),
                                integer_field(fault, "rank"), job->job.id));
      if (!shown.insert(line).second) continue;
      const Paint how = field(fault, "fatal") == true ? Paint::red : Paint::yellow;
      text += std::string(indent, ' ') + paint(wrap(line, indent, indent + 2, style), how, style) +
              "\n";
    }
  return text;
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

std::string title(const Case& one, const Dimensions& all, const TextStyle& style) {
  const PlannedJob& job = one.jobs.front()->job;
  std::vector<std::string> parts;
  if (!job.probe.empty() && job.probe != one.name) parts.push_back("probe " + printable(job.probe));
  if (const std::string ranks = ranks_text(one); !ranks.empty()) parts.push_back(ranks);
  if (job.device != "host") parts.push_back("device " + printable(job.device));
  if (!all.common.empty()) parts.push_back(dimension_list(all.common));
  const std::string name = printable(one.name);
  return paint(name, Paint::bold, style) + "  " +
         paint(wrap(join(parts, ", "), code_points(name) + 2, kTableIndent, style), Paint::dim,
               style) +
         "\n";
}

std::string short_name(const std::string& metric, const std::string& probe) {
  const bool own = !probe.empty() && metric.compare(0, probe.size() + 1, probe + ".") == 0;
  return printable(own ? metric.substr(probe.size() + 1) : metric);
}

/// Words to the left, numbers to the right.
bool is_word(const std::string& name, const Dimensions& dims) {
  return std::any_of(dims.of_row.begin(), dims.of_row.end(),
                     [&](const Json& row) { return row.contains(name) && !row[name].is_number(); });
}

std::vector<Column> case_columns(const std::vector<std::string>& varying, const Dimensions& dims) {
  std::vector<Column> list = {{"metric", false, 0}};
  for (const std::string& name : varying)
    list.push_back({dimension_title(name), !is_word(name, dims), 0});
  list.push_back({"median", true, 0});
  list.push_back({"95 % interval", true, 1});
  list.push_back({"n", true, 0});
  list.push_back({"clean", true, 0});
  list.push_back({"limit", true, 3});
  list.push_back({"of limit", true, 0});
  list.push_back({"at clock", true, 2});
  list.push_back({"", false, 0});
  return list;
}

std::vector<Cell> cells(const Result& result, const Json& own,
                        const std::vector<std::string>& varying, Footnotes& notes) {
  const Series& series = result.series;
  std::vector<Cell> row;
  for (const std::string& name : varying)
    row.push_back({own.contains(name) ? dimension_text(name, own[name]) : "", Paint::none});
  const bool there = std::isfinite(series.median);
  row.push_back({there ? format(series.median, series.unit) : "", Paint::bold});
  row.push_back({interval_text(series), Paint::none});
  row.push_back({series.n > 0 ? std::to_string(series.n) : "", Paint::none});
  row.push_back(notes.clean_cell(series));
  row.push_back({limit_text(series), Paint::none});
  row.push_back({of_limit_text(series), Paint::none});
  row.push_back({at_clock_text(series), Paint::none});
  row.push_back(outcome_cell(result));
  notes.note_limit(series);
  return row;
}

std::string table_text(const Rows& rows, const Json& common, Footnotes& notes,
                       const TextStyle& style) {
  if (rows.empty()) return "";
  const Dimensions dims = dimensions(rows);
  std::vector<std::string> shown = dims.varying;
  for (const auto& [name, value] : dims.common.items())  // common here, but not in the whole case
    if (!common.contains(name)) shown.push_back(name);
  Table table(case_columns(shown, dims));
  std::string last_metric, last_reason;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Series& series = rows[i]->series;
    std::vector<Cell> row = cells(*rows[i], dims.of_row[i], shown, notes);
    const std::string metric = short_name(series.metric, series.probe);
    row.insert(row.begin(), Cell{metric == last_metric ? "" : metric, Paint::none});
    table.add(std::move(row));
    if (!series.reason.empty() && series.reason != last_reason)
      table.note(printable(series.reason), Paint::yellow);
    last_metric = metric;
    last_reason = series.reason;
  }
  return table.render(kTableIndent, style);
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
std::string ends_text(const Rows& ends, const TextStyle& style) {
  std::map<std::pair<Status, std::string>, std::vector<std::string>> groups;
  for (const Result* end : ends)
    groups[{end->series.outcome, end->series.reason}].push_back(printable(end->series.job));
  std::string text;
  for (auto& [key, jobs] : groups) {
    const std::size_t count = jobs.size();
    if (count > kNamedJobs) {
      jobs.resize(kNamedJobs);
      jobs.push_back("...");
    }
    const std::string line = fmt::format("{}: {} ({}): {}", to_string(key.first),
                                         count == 1 ? "1 job" : fmt::format("{} jobs", count),
                                         join(jobs, ", "), printable(key.second));
    text += std::string(kTableIndent, ' ') +
            paint(wrap(line, kTableIndent, kTableIndent + 2, style), paint_of(key.first), style) +
            "\n";
  }
  return text;
}

std::string loader_block(const Case& one, const RunSummary& report, const TextStyle& style) {
  std::vector<std::pair<std::string, const Json*>> loaders;
  for (const JobResult* job : one.jobs)
    if (const auto facts = report.loaders.find(job->job.id); facts != report.loaders.end())
      loaders.emplace_back(job->job.id, &facts->second);
  return loader_text(loaders, one.measured, kTableIndent, style);
}

std::string case_text(const Case& one, const RunSummary& report, const TextStyle& style) {
  const std::vector<Result> folded = fold_repeats(one.measured);
  Rows every;
  for (const Result& result : folded) every.push_back(&result);
  const Rows rows = by_metric(every), sweep = swept(rows);
  const Dimensions all = dimensions(sweep);
  Footnotes notes;
  const Split split = find_curves(sweep, all);
  std::set<const Result*> drawn(sweep.begin(), sweep.end());
  for (const Result* row : split.rest) drawn.erase(row);
  Rows tabulated = rows;  // in their order
  std::erase_if(tabulated, [&](const Result* row) { return drawn.contains(row); });
  std::string text = title(one, all, style);
  text += table_text(tabulated, all.common, notes, style);
  for (const Curve& curve : split.curves) text += curve_text(curve, notes, style);
  if (rows.empty() && one.ends.empty()) text += std::string(kTableIndent, ' ') + "ok, no metrics\n";
  return text + loader_block(one, report, style) + ends_text(one.ends, style) +
         faults_text(one.jobs, kTableIndent, style) + notes.render(kTableIndent, style) +
         telemetry_text(one.measured, kTableIndent, style);
}

}  // namespace

std::string cases_text(const RunSummary& report, const TextStyle& style) {
  std::string text;
  for (const Case& one : cases_of(report)) text.append("\n").append(case_text(one, report, style));
  return text;
}

}  // namespace bench
