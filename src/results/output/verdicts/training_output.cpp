#include "results/output/verdicts/training_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/curve_plot.h"
#include "results/output/verdicts/diagnosis_output.h"
#include "results/verdicts/training/training_scaling.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

constexpr std::size_t kBarCells = 24;
constexpr std::size_t kMostFaults = 3;

Paint paint_of(TrainingState state) {
  if (state == TrainingState::converged || state == TrainingState::timed_steps) return Paint::green;
  return state == TrainingState::not_run ? Paint::yellow : Paint::red;
}

std::string state_words(TrainingState state) {
  std::string text(to_string(state));
  std::ranges::replace(text, '_', ' ');
  return text;
}

void add_run(Table& table, const TrainingRun& run) {
  const bool converged = run.state == TrainingState::converged;
  table.add(
      {{std::to_string(run.seed)},
       {state_words(run.state), paint_of(run.state)},
       {number_text(run.quality)},
       {converged ? rate_number(run.samples_to_target) : ""},
       {converged ? value_text(run.seconds_to_target, Unit::second) : "", Paint::bold},
       {value_text(run.init_seconds, Unit::second)},
       {rate_number(run.items_per_second)},
       {value_text(run.step_median, Unit::second)},
       {run.checks == 0 ? "none"
                        : fmt::format("{} of {}", run.checks - run.faults.size(), run.checks)}});
  if (const std::string why = own_reason(run); !why.empty())
    table.note(printable(why), Paint::yellow);
  for (std::size_t i = 0; i < std::min(run.faults.size(), kMostFaults); ++i)
    table.note("check failed: " + printable(fault_words(run.faults[i])), Paint::red);
}

}  // namespace

std::string runs_table(const TrainingGroup& group, const TextStyle& style) {
  Table table({{"seed"},
               {"", false},
               {"gap"},
               {"samples"},
               {"time to train"},
               {"init", true, 3},
               {printable(items_word(group)) + "/s", true, 1},
               {"step", true, 4},
               {"checks", true, 5}});
  for (const TrainingRun& run : group.runs) add_run(table, run);
  return table.render(2, style);
}

std::string breakdown_table(const TrainingGroup& group, const TextStyle& style) {
  if (group.breakdown.empty()) return "";
  Table table({{"phase", false}, {"share"}, {"seconds"}, {"slowest rank"}, {"", false, 1}});
  double all = 0.0;
  for (const TrainingPhase& phase : group.breakdown) {
    if (std::isfinite(phase.share)) all += phase.seconds;
    table.add({{phase_words(phase.phase)},
               {std::isfinite(phase.share) ? fmt::format("{:.1f} %", 100.0 * phase.share) : ""},
               {fmt::format("{:.3f}", phase.seconds)},
               {group.setup.ranks > 1 ? printable(phase.slowest_rank) : ""},
               {bar(phase.share, kBarCells, style)}});
  }
  return fmt::format("  time breakdown over all runs ({:.3f} s)\n", all) + table.render(4, style);
}

std::string memory_table(const TrainingGroup& group, const TextStyle& style) {
  if (group.memory.empty()) return "";
  double all = 0.0;
  for (const TrainingMemory& memory : group.memory)
    all += std::isfinite(memory.bytes) ? memory.bytes : 0.0;
  Table table({{"memory per rank", false}, {format(Bytes{all})}});
  for (const TrainingMemory& memory : group.memory)
    table.add({{printable(memory.label)},
               {std::isfinite(memory.bytes) ? format(Bytes{memory.bytes}) : "unknown"}});
  return table.render(2, style);
}

std::string scaling_table(const TrainingReport& report, const Scaling& scaling,
                          const TextStyle& style) {
  const TrainingGroup& first = report.groups[scaling.points.front().group];
  Table table({{"ranks"},
               {"batch"},
               {printable(items_word(first)) + "/s"},
               {"efficiency"},
               {"time to train"},
               {"time efficiency"}});
  for (const ScalingPoint& point : scaling.points) {
    const TrainingGroup& group = report.groups[point.group];
    table.add({{std::to_string(point.ranks)},
               {std::to_string(group.setup.batch)},
               {rate_number(point.items_per_second)},
               {efficiency_text(point.efficiency, point.low, point.high), Paint::bold},
               {value_text(group.time.mean, Unit::second)},
               {efficiency_text(point.time_efficiency, point.time_low, point.time_high)}});
  }
  return fmt::format("{} scaling, efficiency t1 / (n tn) relative to {} rank{}\n",
                     scaling.weak ? "weak" : "strong", scaling.base, scaling.base == 1 ? "" : "s") +
         table.render(2, style) + "  " + wrap(scaling.interval, 2, 2, style) + "\n";
}

namespace {

// The report as a page: one file that needs nothing from elsewhere (results/pages).

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
  Page page(report.groups.empty() && !report.diagnosed.empty()
                ? "Data loader and checkpoint bottlenecks"
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

namespace {

std::string line(const std::string& label, const std::string& text, const TextStyle& style) {
  constexpr std::size_t kIndent = 17;
  return "  " + paint(fmt::format("{:<15}", label), Paint::dim, style) +
         wrap(printable(text), kIndent, kIndent, style) + "\n";
}

std::string group_text(const TrainingGroup& group, const TextStyle& style) {
  std::string text = paint(printable(setup_words(group)), Paint::bold, style) + "\n";
  text += runs_table(group, style) + "\n";
  for (const auto& [label, words] : group_lines(group)) text += line(label, words, style);
  for (const std::string& part : {to_text(curve_plot(group), style), breakdown_table(group, style),
                                  memory_table(group, style)})
    if (!part.empty()) text += "\n" + part;
  return text;
}

/// With several runs, each diagnosis is headed by its run.
std::string diagnosis_text(const TrainingReport& report, const TextStyle& style) {
  std::string text;
  for (const DiagnosedRun& run : report.diagnosed) {
    std::string section = diagnosis::to_text(run.diagnoses, style);
    section.erase(0, section.find_first_not_of('\n'));
    if (report.runs.size() > 1) text += paint(printable(run.run), Paint::dim, style) + "\n";
    text += section + "\n";
  }
  return text;
}

std::string exit_words(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "all requested runs completed";
    case ExitCode::failed:
      return "a training run missed its target, or a check failed";
    case ExitCode::interrupted:
      return "interrupted";
    case ExitCode::environment:
      return "complete, but the run could not be added to the database";
    default:
      return "some of the requested measurements could not be made";
  }
}

}  // namespace

std::string to_text(const TrainingReport& report, const TextStyle& style) {
  std::string text;
  if (report.groups.empty() && report.diagnosed.empty())
    text = "no training runs: " +
           (report.runs.empty() ? std::string("no run was given")
                                : "none in " + printable(join(report.runs, ", "))) +
           "\n";
  for (const TrainingGroup& group : report.groups) text += group_text(group, style) + "\n";
  for (const Scaling& scaling : report.scalings)
    text += scaling_table(report, scaling, style) + "\n";
  text += diagnosis_text(report, style);
  for (const std::string& warning : report.warnings)
    text += paint(wrap("warning: " + printable(warning), 0, 2, style), Paint::yellow, style) + "\n";
  text += wrap(note_of(report), 0, 0, style) + "\n";
  const Paint colour = report.exit_code == ExitCode::ok ? Paint::green : Paint::red;
  return text +
         paint(fmt::format("exit code {}: {}", static_cast<int>(report.exit_code),
                           exit_words(report.exit_code)),
               colour, style) +
         "\n";
}

}  // namespace bench
