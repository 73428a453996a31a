#include "results/training/training_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/training/training_summary.h"

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

}  // namespace bench
