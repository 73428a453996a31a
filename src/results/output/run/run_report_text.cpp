#include "results/output/run/run_report_text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/run/cases_text.h"
#include "results/output/run/result_cells.h"
#include "results/output/verdicts/diagnosis_output.h"
#include "results/output/verdicts/localisation_text.h"
#include "results/run/dimensions.h"

namespace bench {

// Report section on results that must be bitwise equal; empty if there are none.

std::string hashes_text(const RunReport& report, const TextStyle& style) {
  if (report.hashes.empty()) return "";
  const Json summary = hashes_json(report.hashes);
  std::vector<std::string> parts = {fmt::format("{} hashes recorded", report.hashes.size())};
  if (const auto n = summary["golden"].get<std::size_t>(); n > 0)
    parts.push_back(fmt::format("{} match the golden value", n));
  if (const auto n = summary["different"].size(); n > 0)
    parts.push_back(fmt::format("{} differ from the golden value", n));
  for (const Json& missing : summary["without_golden"])
    parts.push_back(printable(missing.get<std::string>()));
  std::string text = fmt::format("\n{}\n    {}\n", paint("result hashes", Paint::bold, style),
                                 wrap(join(parts, "; "), 4, 4, style));
  for (const char* findings : {"different", "disagreements"})
    for (const Json& one : summary[findings])
      text += "    " +
              paint(wrap(printable(one.get<std::string>()), 4, 6, style), Paint::red, style) + "\n";
  return text;
}

namespace {

// Header of a run report: run, machine, programs and warnings.

/// More hosts than this are counted, not named.
constexpr std::size_t kNamedHosts = 6;

/// Value of a fact that a rank had no permission to read.
constexpr std::string_view kUnreadable = "unreadable";

std::string labelled(const std::string& label, const std::string& text, const TextStyle& style) {
  constexpr std::size_t kIndent = 12;
  return "  " + paint(fmt::format("{:<10}", label), Paint::dim, style) +
         wrap(text, kIndent, kIndent, style) + "\n";
}

std::string count_of(const Json& facts, const char* key, const char* one, const char* several) {
  const double value = number_field(facts, key);
  if (std::isnan(value)) return "";
  return fmt::format("{:.0f} {}", value, value == 1.0 ? one : several);
}

std::string memory(const Json& facts) {
  const double bytes = number_field(facts, "memory_bytes");
  return std::isnan(bytes) ? "" : format(Bytes{bytes}) + " of memory";
}

/// A fact that could not be read is shown as such: "CPU model unreadable".
std::string stated(const Json& facts, const char* key, const std::string& what,
                   const std::string& prefix = {}) {
  const std::string text = printable(text_field(facts, key));
  if (text.empty()) return "";
  if (text == kUnreadable) return what + " unreadable";
  return text.starts_with(prefix) ? text : prefix + text;
}

std::string virtualization(const Json& facts) {
  const std::string kind = stated(facts, "virtualization", "virtualization");
  if (kind == "none") return "bare metal";
  const bool plain = kind.empty() || kind == "virtual machine" || kind.ends_with(kUnreadable);
  return plain ? kind : fmt::format("virtual machine ({})", kind);
}

/// "64 cores, 128 hardware threads (2 allowed)".
std::string cores(const Json& facts) {
  std::string text = count_of(facts, "cores", "core", "cores");
  const double threads = number_field(facts, "hardware_threads");
  const double allowed = number_field(facts, "allowed_cpus");
  if (text.empty()) return text;
  if (threads > number_field(facts, "cores"))
    text += fmt::format(", {:.0f} hardware threads", threads);
  if (allowed < threads) text += fmt::format(" ({:.0f} allowed)", allowed);
  return text;
}

/// "8 NVIDIA H100 80GB HBM3 (driver 550.54.15)"; different models are listed in turn.
std::string gpus(const Json& facts) {
  const Json& all = object_field(facts, "gpus");
  std::map<std::string, int> models;
  for (const Json& gpu : array_field(all, "gpus"))
    ++models[printable(text_field(gpu, "name", "unknown GPU"))];
  std::vector<std::string> parts;
  for (const auto& [name, count] : models) parts.push_back(fmt::format("{} {}", count, name));
  const std::string driver = printable(text_field(all, "driver"));
  if (parts.empty()) return "";
  return join(parts, ", ") + (driver.empty() ? "" : fmt::format(" (driver {})", driver));
}

std::string describe(const Json& facts) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {stated(facts, "cpu_model", "CPU model"), count_of(facts, "packages", "package", "packages"),
        cores(facts), count_of(facts, "numa_nodes", "NUMA node", "NUMA nodes"), memory(facts),
        gpus(facts), stated(facts, "kernel", "kernel", "Linux "), virtualization(facts)})
    if (!part.empty()) parts.push_back(part);
  return parts.empty() ? "unknown" : join(parts, ", ");
}

std::string names(const std::vector<std::string>& hosts) {
  std::vector<std::string> shown(
      hosts.begin(),
      hosts.begin() + static_cast<std::ptrdiff_t>(std::min(hosts.size(), kNamedHosts)));
  if (hosts.size() > kNamedHosts)
    shown.push_back(fmt::format("and {} more", hosts.size() - kNamedHosts));
  return (hosts.size() > 1 ? fmt::format("{} hosts: ", hosts.size()) : "") + join(shown, ", ");
}

/// Hosts with the same text share a line.
std::string grouped(const std::string& label,
                    const std::map<std::string, std::vector<std::string>>& groups, bool name_hosts,
                    const TextStyle& style) {
  std::string text;
  for (const auto& [what, hosts] : groups)
    text += labelled(label, name_hosts ? names(hosts) + ": " + what : what, style);
  return text;
}

std::string machine_lines(const RunReport& report, const TextStyle& style) {
  std::map<std::string, std::vector<std::string>> machines, clocks;
  for (const Machine& machine : report.machines) {
    machines[describe(machine.facts)].push_back(printable(machine.host));
    if (std::isfinite(machine.clock_hz))
      clocks[format(machine.clock_hz, Unit::hertz) + " measured"].push_back(
          printable(machine.host));
  }
  return grouped("machine", machines, true, style) +
         grouped("clock", clocks, report.machines.size() > 1, style);
}

std::string warning_lines(const RunReport& report, const TextStyle& style) {
  std::map<std::string, std::vector<std::string>> warnings;
  for (const Machine& machine : report.machines)
    for (const std::string& warning : machine.warnings)
      warnings[printable(warning)].push_back(printable(machine.host));
  if (warnings.empty()) return "";
  std::string text = "  " + paint("warnings", Paint::yellow, style) + "\n";
  for (const auto& [warning, hosts] : warnings) {
    const std::string whose = report.machines.size() > 1 ? names(hosts) + ": " : "";
    text += (style.unicode ? "    • " : "    - ") + wrap(whose + warning, 6, 6, style) + "\n";
  }
  return text;
}

std::string scalar(const Json& value) { return printable(text_of(value)); }

/// Version up to its number; details are in the JSON. "OpenBLAS 0.3.21 ..." already contains its
/// name.
std::string library(const std::string& name, const std::string& version) {
  const auto digit = version.find_first_of("0123456789");
  const std::string text =
      digit == std::string::npos ? version : version.substr(0, version.find(' ', digit));
  return text.find(' ') == std::string::npos ? printable(name) + " " + text : text;
}

std::string describe_program(const Json& program) {
  std::vector<std::string> parts = {
      fmt::format("{} {}", printable(text_field(program, "name", "bench-rank")),
                  printable(text_field(program, "version", "unknown version")))};
  for (const auto& [name, version] : object_field(program, "libraries").items())
    parts.push_back(library(name, scalar(version)));
  return join(parts, ", ");
}

std::string program_lines(const RunReport& report, const TextStyle& style) {
  std::vector<std::string> programs;
  for (const Json& program : report.programs) programs.push_back(describe_program(program));
  return programs.empty() ? "" : labelled("programs", join(programs, "; "), style);
}

std::string label_line(const RunReport& report, const TextStyle& style) {
  std::vector<std::string> labels;
  for (const auto& [name, value] : report.labels.items())
    labels.push_back(printable(name) + "=" + scalar(value));
  return labels.empty() ? "" : labelled("labels", join(labels, ", "), style);
}

std::string duration(const RunReport& report) {
  const std::string how = report.interrupted ? ", interrupted"
                          : report.finished
                              ? ""
                              : ", incomplete: benchctl was killed or is still running";
  if (!(report.seconds >= 0.0)) return how;
  return (report.seconds < 100.0 ? fmt::format(", {:.1f} s", report.seconds)
                                 : fmt::format(", {:.0f} min", report.seconds / 60.0)) +
         how;
}

}  // namespace

std::string header_text(const RunReport& report, const TextStyle& style) {
  std::string text = paint(printable(report.run), Paint::bold, style) + "  " +
                     paint(to_string(report.outcome), paint_of(report.outcome), style) + "\n";
  text += labelled("suite",
                   printable(report.suite.empty() ? "unknown" : report.suite) + ", " +
                       format_time(report.time_ns) + duration(report),
                   style);
  text += label_line(report, style) + machine_lines(report, style) + program_lines(report, style) +
          warning_lines(report, style);
  for (const std::string& warning : report.warnings)
    text += "  " +
            paint(wrap("warning: " + printable(warning), 2, 4, style), Paint::yellow, style) + "\n";
  return text;
}

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

  std::string text = fmt::format("{} {} ({}), {} series", report.jobs.size(),
                                 report.jobs.size() == 1 ? "job" : "jobs",
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
