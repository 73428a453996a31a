#include <fmt/format.h>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"
#include "results/training/curve_plot.h"
#include "results/training/training_output.h"
#include "results/training/training_summary.h"
#include "results/training/training_tables.h"

namespace bench {
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
