#include "results/output/run/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "results/output/document/dot_plot.h"
#include "results/output/run/result_cells.h"
#include "results/run/dimensions.h"
#include "results/run/metric_catalogue.h"

namespace bench {
namespace {

constexpr std::size_t kReasonsShown = 3;

std::string gate_value(const Series& series, const Gate& gate) {
  std::vector<std::string> parts = {format(series.median, series.unit)};
  if (const std::string interval = interval_text(series); !interval.empty())
    parts.front().append(" ").append(interval);
  if (const std::string share = of_limit_text(series); gate.min_of_limit && !share.empty())
    parts.push_back(share + " of the limit");
  return join(parts, ", ");
}

}  // namespace

std::string gate_line(const GateResult& result, const RunReport& report) {
  const Series* series = result.series ? &report.results[*result.series].series : nullptr;
  const Json& which = series ? series->params : result.gate.where;
  std::string text = fmt::format("{}: {}{} {}", result.gate.case_name, result.gate.metric,
                                 which.empty() ? "" : fmt::format(" ({})", dimension_list(which)),
                                 demand(result.gate, series ? series->unit : Unit::count));
  if (series != nullptr && series->n > 0) text += ": " + gate_value(*series, result.gate);
  return result.reason.empty() ? text : text + "; " + result.reason;
}

namespace {

std::string counted(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  return join(parts, ", ");
}

/// Gates that neither passed nor failed: the interval is too wide, or the case was skipped.
std::size_t undecided_gates(const RunReport& report) {
  return static_cast<std::size_t>(
      std::ranges::count(report.gates, Verdict::inconclusive, &GateResult::verdict));
}

std::string exit_words(const RunReport& report) {
  const std::size_t undecided = undecided_gates(report);
  const std::string passed = report.gates.empty() ? "all measured, no gates"
                             : undecided > 0
                                 ? fmt::format("no gate failed, {} undecided", undecided)
                                 : "all passed";
  switch (report.exit_code) {
    case ExitCode::ok:
      return passed;
    case ExitCode::failed:
      return "a gate failed or a result is invalid";
    case ExitCode::not_measured:
      return report.unjudged.empty() ? "everything was skipped"
                                     : "some of what was asked for could not be judged";
    case ExitCode::environment:
      return passed + ", but the run could not be added to the database";
    case ExitCode::interrupted:
      return "interrupted";
    default:
      return "an error";
  }
}

}  // namespace

std::string run_summary_text(const RunReport& report) {
  std::map<std::string, std::size_t> jobs, gates;
  std::size_t series = 0;
  for (const JobResult& job : report.jobs)
    ++jobs[job.not_run ? "not run" : std::string(to_string(job.outcome))];
  for (const Result& result : report.results) series += result.series.metric.empty() ? 0 : 1;
  for (const GateResult& gate : report.gates) ++gates[std::string(to_string(gate.verdict))];
  std::string text = fmt::format("{} {} ({}), {} series", report.jobs.size(),
                                 report.jobs.size() == 1 ? "job" : "jobs",
                                 report.jobs.empty() ? "none planned" : counted(jobs), series);
  if (!gates.empty()) text += fmt::format(", {} gates ({})", report.gates.size(), counted(gates));
  return text +
         fmt::format("; exit code {}: {}", static_cast<int>(report.exit_code), exit_words(report));
}

namespace {

/// Why the run does not pass, most telling first.
std::vector<std::string> reasons_of(const RunReport& report) {
  std::vector<std::string> reasons;
  for (const GateResult& gate : report.gates)
    if (gate.verdict == Verdict::fail) reasons.push_back("gate " + gate_line(gate, report));
  for (const Result& result : report.results)
    if (result.series.outcome == Status::invalid)
      reasons.push_back(result.series.job + ": invalid: " + result.series.reason);
  if (reasons.empty()) reasons = report.unjudged;
  return reasons;
}

std::size_t disturbed_series(const RunReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.results, [](const Result& result) {
    return result.series.n > 0 && result.series.clean == 0;
  }));
}

std::size_t measured_series(const RunReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.results, [](const Result& result) { return result.series.n > 0; }));
}

/// "9 jobs", "7 of 9 jobs".
std::string jobs_text(const RunReport& report) {
  const auto ok = std::ranges::count(report.jobs, Status::ok, &JobResult::outcome);
  const std::size_t all = report.jobs.size();
  const std::string of = static_cast<std::size_t>(ok) == all ? "" : fmt::format("{} of ", ok);
  return of + fmt::format("{} {}", all, all == 1 ? "job" : "jobs");
}

/// None of the gates failed.
std::string passed_text(std::size_t gates, std::size_t undecided) {
  constexpr const char* kWhy = "interval too wide, or case skipped";
  if (undecided == 0) return fmt::format("PASS: all {} gates passed", gates);
  if (undecided == gates) return fmt::format("NOT DECIDED: none of {} gates: {}", gates, kWhy);
  return fmt::format("PASS: {} of {} gates passed, {} undecided: {}", gates - undecided, gates,
                     undecided, kWhy);
}

std::string answer_text(const RunReport& report) {
  const auto failed = std::ranges::count(report.gates, Verdict::fail, &GateResult::verdict);
  switch (report.exit_code) {
    case ExitCode::ok:
    case ExitCode::environment:
      return report.gates.empty() ? fmt::format("MEASURED: {} series in {}; no gates to pass",
                                                measured_series(report), jobs_text(report))
                                  : passed_text(report.gates.size(), undecided_gates(report));
    case ExitCode::failed:
      return failed > 0 ? fmt::format("FAIL: {} of {} gates failed", failed, report.gates.size())
                        : "FAIL: a result is invalid";
    case ExitCode::interrupted:
      return "INTERRUPTED: benchctl resume " + report.run + " continues";
    default:
      break;
  }
  if (report.unjudged.empty()) return "NOT MEASURED: everything was skipped";
  if (const std::size_t disturbed = disturbed_series(report); disturbed > 0)
    return fmt::format("NOT JUDGED: {} of {} series without an undisturbed sample", disturbed,
                       measured_series(report));
  return "NOT JUDGED: some of what was asked for could not be measured";
}

std::string next_step(const RunReport& report) {
  if (report.exit_code != ExitCode::not_measured) return "";
  if (disturbed_series(report) > 0)
    return "stop other work (benchctl doctor names it) or use a quieter machine, then run again";
  return "see the reasons below; benchctl doctor names what is missing";
}

struct MetricOfCase {
  std::string case_name, metric;
  Unit unit = Unit::count;
  std::vector<const Series*> series = {};
};

/// Facts such as the number of cores are measured once; they are no benchmark.
bool is_repeated(const MetricOfCase& one) {
  return std::ranges::any_of(one.series, [](const Series* series) { return series->n > 1; });
}

std::vector<MetricOfCase> metrics_of(const RunReport& report) {
  std::set<std::string> shown;  // cases; those of the localisation are shown there
  for (const JobResult& job : report.jobs)
    if (job.job.search_of.empty()) shown.insert(job.job.case_name);
  std::vector<MetricOfCase> found;
  for (const Result& result : report.results) {
    const Series& series = result.series;
    if (series.metric.empty() || series.n == 0 || !shown.contains(series.case_name)) continue;
    auto one = std::ranges::find_if(found, [&](const MetricOfCase& other) {
      return other.case_name == series.case_name && other.metric == series.metric &&
             other.unit == series.unit;
    });
    if (one == found.end()) one = found.insert(one, {series.case_name, series.metric, series.unit});
    one->series.push_back(&series);
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const MetricOfCase& one : found) known.insert({one.case_name, one.metric});
  std::erase_if(found, [&](const MetricOfCase& one) {
    return !is_repeated(one) || known.contains({one.case_name, declaration(one.metric).same_as});
  });
  return found;
}

std::string shares_text(const std::vector<const Series*>& all) {
  double low = kNoValue, high = kNoValue;
  for (const Series* series : all) {
    low = std::fmin(low, series->of_limit);
    high = std::fmax(high, series->of_limit);
  }
  if (!std::isfinite(low)) return "";
  const std::string from = fmt::format("{:.0f}", 100.0 * low),
                    to = fmt::format("{:.0f} %", 100.0 * high);
  return all.size() == 1 || from + " %" == to ? to : from + " to " + to;
}

std::vector<DocumentCell> overview_row(const MetricOfCase& one) {
  const auto [low, high] = std::ranges::minmax_element(one.series, {}, &Series::median);
  const auto clean =
      std::ranges::count_if(one.series, [](const Series* series) { return series->clean > 0; });
  const bool all_clean = static_cast<std::size_t>(clean) == one.series.size();
  return {{one.case_name},
          {short_metric(*one.series.front())},
          count_cell(one.series.size()),
          value_cell((*low)->median, one.unit),
          one.series.size() > 1 ? value_cell((*high)->median, one.unit) : DocumentCell{},
          {shares_text(one.series)},
          {fmt::format("{} of {}", clean, one.series.size()), static_cast<double>(clean),
           all_clean ? Tone::none : Tone::unsure}};
}

}  // namespace

Headline headline_of(const RunReport& report) {
  const std::string text = answer_text(report);
  const std::size_t colon = text.find(':');
  const bool undecided = !report.gates.empty() && undecided_gates(report) == report.gates.size();
  const Tone tone =
      undecided && report.exit_code == ExitCode::ok ? Tone::unsure : tone_of(report.exit_code);
  Headline headline{text.substr(0, colon), tone, text.substr(std::min(text.size(), colon + 2))};
  const auto reasons = reasons_of(report);
  for (std::size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i)
    headline.reasons.items.push_back({reasons[i]});
  if (reasons.size() > kReasonsShown)
    headline.reasons.items.push_back(
        {{fmt::format("and {} more", reasons.size() - kReasonsShown), Tone::faint}});
  headline.next_step = next_step(report);
  return headline;
}

Cards summary_cards(const RunReport& report) {
  const std::size_t measured = measured_series(report), disturbed = disturbed_series(report);
  Cards cards{{{"Jobs", jobs_text(report)},
               {"Undisturbed", fmt::format("{} of {}", measured - disturbed, measured),
                "series with a clean sample", disturbed > 0 ? Tone::unsure : Tone::none}}};
  if (!report.gates.empty()) {
    const auto count = [&](Verdict verdict) {
      return std::ranges::count(report.gates, verdict, &GateResult::verdict);
    };
    cards.cards.push_back({"Gates passed",
                           fmt::format("{} of {}", count(Verdict::pass), report.gates.size()),
                           fmt::format("{} failed", count(Verdict::fail)),
                           count(Verdict::fail) > 0 ? Tone::bad : Tone::none});
  }
  return cards;
}

namespace {

/// Every series with a limit, a row for each metric of each case.
std::string limits_svg(const std::vector<MetricOfCase>& metrics) {
  DotPlot plot{
      "Each dot is a series", "% of its physical limit (right is better)", {}, {0.0, 100.0}};
  for (const MetricOfCase& one : metrics) {
    DotRow row{one.case_name + ": " + short_metric(*one.series.front()), {}};
    for (const Series* series : one.series)
      if (std::isfinite(series->of_limit))
        row.dots.push_back({dimension_list(series->params), 100.0 * series->of_limit});
    if (!row.dots.empty()) plot.rows.push_back(std::move(row));
  }
  return plot.rows.size() < 2 ? "" : to_svg(plot);
}

}  // namespace

void add_overview(Document& document, const RunReport& report) {
  const auto metrics = metrics_of(report);
  if (std::string svg = limits_svg(metrics); !svg.empty())
    document.add(Heading{"Share of the limit"}, Audience::page)
        .add(Figure{std::move(svg), "Limits and their sources are listed below."});
  if (metrics.size() < 2) return;  // the table below is as short
  DocumentTable table{{{"case", false, 0, true},
                       {"metric", false},
                       {"series", true, 1},
                       {"lowest", true, 2},
                       {"highest"},
                       {"of limit"},
                       {"clean"}}};
  for (const MetricOfCase& one : metrics) table.rows.push_back(overview_row(one));
  document.add(Heading{"Overview"}).add(std::move(table));
}

}  // namespace bench
