#include "results/reports/run_report_text.h"

#include <fmt/format.h>

#include <map>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"
#include "results/reports/cases_text.h"
#include "results/reports/dimensions.h"
#include "results/reports/result_cells.h"

namespace bench {
namespace {

std::string gate_value(const Series& series, const Gate& gate) {
  std::vector<std::string> parts = {format(series.median, series.unit)};
  if (const std::string interval = interval_text(series); !interval.empty())
    parts.front().append(" ").append(interval);
  if (const std::string share = of_limit_text(series); gate.min_of_limit && !share.empty())
    parts.push_back(share + " of the limit");
  return join(parts, ", ");
}

std::string gate_line(const GateResult& result, const RunReport& report) {
  const Series* series = result.series ? &report.results[*result.series].series : nullptr;
  const Json& which = series ? series->params : result.gate.where;
  std::string text =
      fmt::format("{}: {}{} {}", printable(result.gate.case_name), printable(result.gate.metric),
                  which.empty() ? "" : fmt::format(" ({})", dimension_list(which)),
                  demand(result.gate, series ? series->unit : Unit::count));
  if (series != nullptr && series->n > 0) text += ": " + gate_value(*series, result.gate);
  return result.reason.empty() ? text : text + "; " + printable(result.reason);
}

std::string counted(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  return join(parts, ", ");
}

std::string exit_words(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "all passed";
    case ExitCode::failed:
      return "a gate failed or a result is invalid";
    case ExitCode::not_measured:
      return "some of the requested measurements could not be made";
    case ExitCode::environment:
      return "all passed, but the run could not be added to the database";
    case ExitCode::interrupted:
      return "interrupted";
    default:
      return "an error";
  }
}

}  // namespace

std::string gates_text(const RunReport& report, const TextStyle& style) {
  if (report.gates.empty()) return "";
  constexpr std::size_t kVerdictWidth = 14;
  std::string text = fmt::format("\n{}\n", paint("gates", Paint::bold, style));
  for (const GateResult& gate : report.gates) {
    const std::string verdict(to_string(gate.verdict));
    text += "    " + paint(verdict, paint_of(gate.verdict), style) +
            std::string(kVerdictWidth - verdict.size(), ' ') +
            wrap(gate_line(gate, report), 4 + kVerdictWidth, 4 + kVerdictWidth, style) + "\n";
  }
  return text;
}

std::string summary_text(const RunReport& report, const TextStyle& style) {
  std::map<std::string, std::size_t> jobs, gates;
  std::size_t series = 0;
  for (const JobResult& job : report.jobs)
    ++jobs[job.not_run ? "not run" : std::string(to_string(job.outcome))];
  for (const Result& result : report.results) series += result.series.metric.empty() ? 0 : 1;
  for (const GateResult& gate : report.gates) ++gates[std::string(to_string(gate.verdict))];

  std::string text = fmt::format(
      "{} {} ({}), {} series", report.jobs.size(), report.jobs.size() == 1 ? "job" : "jobs",
      report.jobs.empty() ? "none planned" : counted(jobs), series);
  if (!gates.empty()) text += fmt::format(", {} gates ({})", report.gates.size(), counted(gates));
  text += fmt::format("; exit code {}: {}", static_cast<int>(report.exit_code),
                      exit_words(report.exit_code));
  return fmt::format("\n{}\n", paint(wrap(text, 0, 2, style), paint_of(report.outcome), style));
}

std::string to_text(const RunReport& report, const TextStyle& style) {
  return header_text(report, style) + cases_text(report, style) + gates_text(report, style) +
         localisation_text(report.localisations, style) +
         stragglers_text(report.stragglers, style) + diagnosis::to_text(report.diagnoses, style) +
         hashes_text(report, style) + summary_text(report, style);
}

}  // namespace bench
