// The report as a page: one file that needs nothing from elsewhere (results/pages).
#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"
#include "results/pages/page.h"
#include "results/training/curve_plot.h"
#include "results/training/training_output.h"
#include "results/training/training_scaling.h"
#include "results/training/training_summary.h"

namespace bench {
namespace {

/// Maps states to the badges of a page (pass, fail).
std::string badge_of(TrainingState state) {
  if (state == TrainingState::not_run) return "inconclusive";
  const bool good = state == TrainingState::converged || state == TrainingState::timed_steps;
  return good ? "pass" : "fail";
}

std::string reasons_of(const TrainingRun& run) {
  std::vector<std::string> why;
  if (std::string own = own_reason(run); !own.empty()) why.push_back(std::move(own));
  for (const TrainingFault& fault : run.faults) why.push_back(fault_words(fault));
  return join(why, "; ");
}

PageTable runs_page_table(const TrainingGroup& group) {
  PageTable table{{"seed", "state", "why", "gap", "samples", "time to train", "init",
                   items_word(group) + "/s", "log file"},
                  {}};
  for (const TrainingRun& run : group.runs) {
    const bool converged = run.state == TrainingState::converged;
    const double samples = converged ? run.samples_to_target : kNoValue;
    const double seconds = converged ? run.seconds_to_target : kNoValue;
    table.rows.push_back({{std::to_string(run.seed), static_cast<double>(run.seed)},
                          {std::string(to_string(run.state)), kNoValue, badge_of(run.state)},
                          {reasons_of(run)},
                          number_cell(run.quality, number_text(run.quality)),
                          number_cell(samples, rate_number(samples)),
                          number_cell(seconds, value_text(seconds, Unit::second)),
                          number_cell(run.init_seconds, value_text(run.init_seconds, Unit::second)),
                          number_cell(run.items_per_second, rate_number(run.items_per_second)),
                          {run.run}});
  }
  return table;
}

PageTable lines_page_table(const TrainingGroup& group) {
  PageTable table{{"metric", "over all runs"}, {}};
  for (const auto& [label, words] : group_lines(group)) table.rows.push_back({{label}, {words}});
  return table;
}

void add_parts(const TrainingGroup& group, Page& page) {
  PageTable phases{{"phase", "share", "seconds", "slowest rank"}, {}};
  for (const TrainingPhase& phase : group.breakdown)
    phases.rows.push_back({{phase_words(phase.phase)},
                           std::isfinite(phase.share)
                               ? number_cell(phase.share, format(phase.share, Unit::ratio))
                               : PageCell{"overlapped"},
                           number_cell(phase.seconds, fmt::format("{:.3f}", phase.seconds)),
                           {phase.slowest_rank}});
  if (!phases.rows.empty()) page.table(phases);
  PageTable memory{{"memory per rank", "size"}, {}};
  for (const TrainingMemory& label : group.memory)
    memory.rows.push_back(
        {{label.label},
         number_cell(label.bytes, std::isfinite(label.bytes) ? format(Bytes{label.bytes}) : "")});
  if (!memory.rows.empty()) page.table(memory);
}

void add_group(const TrainingGroup& group, Page& page) {
  page.heading(setup_words(group));
  page.table(lines_page_table(group)).table(runs_page_table(group));
  page.figure(to_svg(curve_plot(group)), "Quality: gap to the best attainable value.");
  add_parts(group, page);
}

void add_scaling(const TrainingReport& report, const Scaling& scaling, Page& page) {
  page.heading(scaling.weak ? "Weak scaling" : "Strong scaling");
  page.text(fmt::format("Efficiency t1 / (n tn) relative to {} rank{}. {}", scaling.base,
                        scaling.base == 1 ? "" : "s", scaling.interval));
  PageTable table{{"ranks", "throughput", "efficiency", "time to train", "time efficiency"}, {}};
  for (const ScalingPoint& point : scaling.points) {
    const TrainingGroup& group = report.groups[point.group];
    table.rows.push_back(
        {{std::to_string(point.ranks), static_cast<double>(point.ranks)},
         number_cell(point.items_per_second, rate_text(point.items_per_second, group)),
         number_cell(point.efficiency, efficiency_text(point.efficiency, point.low, point.high)),
         number_cell(group.time.mean, value_text(group.time.mean, Unit::second)),
         number_cell(point.time_efficiency,
                     efficiency_text(point.time_efficiency, point.time_low, point.time_high))});
  }
  page.table(table);
}

}  // namespace

std::string to_html(const TrainingReport& report) {
  Page page(report.groups.empty() && !report.diagnosed.empty() ? "Data loader and checkpoint bottlenecks"
                                                               : "Time to train");
  page.text("Runs " + join(report.runs, ", ")).note(note_of(report));
  if (report.groups.empty() && report.diagnosed.empty())
    page.text("These runs contain no training.");
  for (const TrainingGroup& group : report.groups) add_group(group, page);
  for (const DiagnosedRun& run : report.diagnosed) {
    if (report.runs.size() > 1) page.text("Run " + run.run + ":");
    diagnosis::add_to_page(run.diagnoses, page);
  }
  for (const Scaling& scaling : report.scalings) add_scaling(report, scaling, page);
  for (const std::string& warning : report.warnings) page.note("warning: " + warning);
  return page.html();
}

}  // namespace bench
