#include "results/output/run/run_output.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/run/cases_output.h"
#include "results/output/run/overview.h"
#include "results/output/run/result_cells.h"
#include "results/output/verdicts/band_output.h"
#include "results/output/verdicts/diagnosis_output.h"
#include "results/output/verdicts/localisation_output.h"
#include "results/run/dimensions.h"

namespace bench {
namespace {

/// More hosts than this are counted, not named.
constexpr std::size_t kNamedHosts = 6;

/// Value of a fact that a rank had no permission to read.
constexpr std::string_view kUnreadable = "unreadable";

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
  const std::string text = text_field(facts, key);
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
  for (const Json& gpu : array_field(all, "gpus")) ++models[text_field(gpu, "name", "unknown GPU")];
  std::vector<std::string> parts;
  for (const auto& [name, count] : models) parts.push_back(fmt::format("{} {}", count, name));
  const std::string driver = text_field(all, "driver");
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

/// Hosts with the same text share a row.
void add_grouped(FactList& list, const std::string& label,
                 const std::map<std::string, std::vector<std::string>>& groups, bool name_hosts) {
  for (const auto& [what, hosts] : groups)
    list.rows.emplace_back(label, name_hosts ? names(hosts) + ": " + what : what);
}

void add_machines(FactList& list, const RunReport& report) {
  std::map<std::string, std::vector<std::string>> machines, clocks;
  for (const Machine& machine : report.machines) {
    machines[describe(machine.facts)].push_back(machine.host);
    if (std::isfinite(machine.clock_hz))
      clocks[format(machine.clock_hz, Unit::hertz) + " measured"].push_back(machine.host);
  }
  add_grouped(list, "machine", machines, true);
  add_grouped(list, "clock", clocks, report.machines.size() > 1);
}

void add_warnings(FactList& list, const RunReport& report) {
  std::map<std::string, std::vector<std::string>> warnings;
  for (const Machine& machine : report.machines)
    for (const std::string& warning : machine.warnings) warnings[warning].push_back(machine.host);
  StyledText label("warnings", Tone::unsure);
  for (const auto& [warning, hosts] : warnings) {
    list.rows.emplace_back(std::exchange(label, ""),
                           (report.machines.size() > 1 ? names(hosts) + ": " : "") + warning);
  }
}

/// Version up to its number; details are in the JSON. "OpenBLAS 0.3.21 ..." already contains its
/// name.
std::string library(const std::string& name, const std::string& version) {
  const auto digit = version.find_first_of("0123456789");
  const std::string text =
      digit == std::string::npos ? version : version.substr(0, version.find(' ', digit));
  return text.find(' ') == std::string::npos ? name + " " + text : text;
}

std::string describe_program(const Json& program) {
  std::vector<std::string> parts = {fmt::format("{} {}", text_field(program, "name", "bench-rank"),
                                                text_field(program, "version", "unknown version"))};
  for (const auto& [name, version] : object_field(program, "libraries").items())
    parts.push_back(library(name, text_of(version)));
  return join(parts, ", ");
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

void add_title(Document& document, const RunReport& report) {
  document.add(Heading{{{{report.run, Tone::strong},
                         {"  " + headline_of(report).verdict, tone_of(report.exit_code)}}}},
               Audience::terminal);
}

void add_facts(Document& document, const RunReport& report) {
  FactList facts{{{"suite", (report.suite.empty() ? "unknown" : report.suite) + ", " +
                                format_time(report.time_ns) + duration(report)}}};
  std::vector<std::string> labels, programs;
  for (const auto& [name, value] : report.labels.items())
    labels.push_back(name + "=" + text_of(value));
  if (!labels.empty()) facts.rows.emplace_back("labels", join(labels, ", "));
  add_machines(facts, report);
  for (const Json& program : report.programs) programs.push_back(describe_program(program));
  if (!programs.empty()) facts.rows.emplace_back("programs", join(programs, "; "));
  add_warnings(facts, report);
  document.add(std::move(facts));
  for (const std::string& warning : report.warnings) document.add(Note{warning, "warning"});
}

void add_gates(Document& document, const RunReport& report) {
  if (report.gates.empty()) return;
  FactList list;
  for (const GateResult& gate : report.gates)
    list.rows.push_back(
        {{std::string(to_string(gate.verdict)), tone_of(gate.verdict)}, gate_line(gate, report)});
  document.add(Heading{"Gates"}).add(std::move(list));
}

/// Results that must be bitwise equal.
void add_hashes(Document& document, const RunReport& report) {
  if (report.hashes.empty()) return;
  const Json summary = hashes_json(report.hashes);
  std::vector<std::string> parts = {fmt::format("{} hashes recorded", report.hashes.size())};
  if (const auto n = summary["golden"].get<std::size_t>(); n > 0)
    parts.push_back(fmt::format("{} match the golden value", n));
  if (const auto n = summary["different"].size(); n > 0)
    parts.push_back(fmt::format("{} differ from the golden value", n));
  for (const Json& missing : summary["without_golden"]) parts.push_back(missing.get<std::string>());
  Lines lines{{join(parts, "; ")}};
  for (const char* findings : {"different", "disagreements"})
    for (const Json& one : summary[findings])
      lines.lines.push_back({one.get<std::string>(), Tone::bad});
  document.add(Heading{"Result hashes"}).add(std::move(lines));
}

constexpr std::size_t kUnjudgedListed = 10;

void add_unjudged(Document& document, const RunReport& report) {
  if (report.unjudged.empty()) return;
  Lines lines;
  for (std::size_t i = 0; i < std::min(report.unjudged.size(), kUnjudgedListed); ++i)
    lines.lines.push_back({report.unjudged[i], Tone::unsure});
  if (report.unjudged.size() > kUnjudgedListed)
    lines.lines.push_back(
        {fmt::format("and {} more", report.unjudged.size() - kUnjudgedListed), Tone::unsure});
  document.add(Heading{"Not judged"}).add(std::move(lines));
}

}  // namespace

Document to_document(const RunReport& report) {
  Document document{.title = "Run " + report.run};
  add_title(document, report);
  document.add(headline_of(report)).add(summary_cards(report), Audience::page);
  add_overview(document, report);
  document.add(Heading{"Machines and programs", true}, Audience::page);
  add_facts(document, report);
  add_cases(document, report);
  add_bands(document, report.bands);
  add_gates(document, report);
  add_localisations(document, report.localisations);
  add_stragglers(document, report.stragglers);
  diagnosis::add_diagnoses(document, report.diagnoses);
  add_hashes(document, report);
  add_unjudged(document, report);
  return document.add(Paragraph{{run_summary_text(report), tone_of(report.outcome)}});
}

}  // namespace bench
