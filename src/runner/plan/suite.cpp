#include "runner/plan/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/locations.h"
#include "core/metric_names.h"
#include "core/sha256.h"
#include "core/text.h"
#include "results/run/bands.h"
#include "runner/plan/suite_check.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

// Changes to a suite from the command line: --only CASE and --set CASE.PARAM=VALUE.

std::vector<std::string> case_names(const Suite& suite) {
  std::vector<std::string> names;
  for (const Case& one : suite.cases) names.push_back(one.name);
  return names;
}

Case& find_case(Suite& suite, const std::string& name, const std::string& option) {
  const auto found = std::ranges::find(suite.cases, name, &Case::name);
  if (found != suite.cases.end()) return *found;
  const auto names = case_names(suite);
  throw Error(
      ErrorKind::usage,
      option + ": suite " + suite.name + " has no case '" + name + "'." + did_you_mean(name, names),
      "cases: " + join(names, ", "));
}

void set(Suite& suite, const std::string& change, const ProbeCatalogue& catalogue) {
  const std::string option = "--set " + change;
  const auto equals = change.find('=');
  const auto dot = change.rfind('.', equals);  // case names may contain dots, parameters do not
  if (equals == std::string::npos || dot == std::string::npos || dot == 0)
    throw Error(ErrorKind::usage, option + ": expected CASE.PARAM=VALUE",
                "for example --set gemm.threads=1");
  Case& target = find_case(suite, change.substr(0, dot), option);
  const std::string name = change.substr(dot + 1, equals - dot - 1);
  const Json value = value_of_text(change.substr(equals + 1));
  check_param(*catalogue.find(target.probe), name, value, option, "/" + name);
  target.params[name] = value;
  target.axes.erase(name);
}

/// Throws Error(usage) with a suggestion for an unknown case or parameter, Error(input) for an
/// invalid value.
void apply_changes(Suite& suite, const SuiteChanges& changes, const ProbeCatalogue& catalogue) {
  for (const std::string& change : changes.set) set(suite, change, catalogue);
  for (const std::string& name : changes.only) find_case(suite, name, "--only");
  if (changes.only.empty()) return;
  std::erase_if(suite.cases, [&](const Case& one) {
    return std::ranges::find(changes.only, one.name) == changes.only.end();
  });
}

}  // namespace
namespace fs = std::filesystem;
namespace {

Case case_from_json(const Json& json) {
  Case result;
  result.name = json.at("name");
  result.probe = json.at("probe");
  result.device = json.value("device", result.device);
  result.params = json.value("params", result.params);
  result.axes = json.value("axes", result.axes);
  if (json.contains("scope")) result.scope = scope_from_json(json["scope"]);
  result.ranks_per_host = json.value("ranks_per_host", result.ranks_per_host);
  result.binding = json.value("binding", result.binding);
  result.repeat = json.value("repeat", result.repeat);
  result.timeout_s = json.value("timeout_s", result.timeout_s);
  result.cooldown_s = json.value("cooldown_s", result.cooldown_s);
  result.env = json.value("env", result.env);
  result.measure = json.value("measure", result.measure);
  result.telemetry = json.value("telemetry", result.telemetry);
  result.gates = json.value("gates", result.gates);
  for (Json& gate : result.gates)
    gate["metric"] = current_metric_of(result.probe, gate.at("metric").get<std::string>());
  return result;
}

std::string with_probe(const ProbeEntry& probe, const std::string& metric) {
  return metric.starts_with(probe.name + ".") ? metric : probe.name + "." + metric;
}

/// Throws Error(input) unless the gate names a band of this metric and has no bound of its own.
const Band& band_of_gate(const Json& gate, const std::string& metric, const std::string& where) {
  if (gate.contains("min") || gate.contains("max"))
    throw Error(ErrorKind::input, where + ": has a band and a bound of its own",
                "remove band, or min and max");
  const BandCatalogue& bands = BandCatalogue::installed();
  const std::string id = gate["band"];
  const Band* band = bands.find(id);
  if (band == nullptr)
    throw Error(
        ErrorKind::input,
        where + "/band: unknown band '" + printable(id) + "'." + did_you_mean(id, bands.ids()),
        "use one of `benchctl list bands`");
  if (std::ranges::find(band->metrics, metric) == band->metrics.end())
    throw Error(ErrorKind::input, where + "/band: " + id + " is no band of " + metric,
                "it is one of " + join(band->metrics, ", "));
  return *band;
}

/// MFU of trainings on GPUs says nothing of a CPU.
void check_band_applies(const Band& band, const Case& of, const std::string& where) {
  const std::string hint = "give the gate a min or max of your own";
  if (!band.device.empty() && band.device != of.device)
    throw Error(
        ErrorKind::input,
        fmt::format("{}/band: {} is of device {}, not {}", where, band.id, band.device, of.device),
        hint);
  const std::string workload = text_field(of.params, "workload");
  const bool fits = workload.empty() || band.workloads.empty() ||
                    std::ranges::find(band.workloads, workload) != band.workloads.end();
  if (!fits)
    throw Error(ErrorKind::input,
                fmt::format("{}/band: {} is of workload {}, not {}", where, band.id,
                            join(band.workloads, ", "), printable(workload)),
                hint);
}

/// Restricts the gate to the series that the band is of.
void add_where_of_band(const Band& band, Json& gate, const std::string& where) {
  Json& of_gate = gate["where"];
  if (!of_gate.is_object()) of_gate = Json::object();
  for (const auto& [name, value] : band.where.items()) {
    if (of_gate.contains(name) && of_gate[name] != value)
      throw Error(ErrorKind::input,
                  fmt::format("{}/where/{}: {}, but {} is of {}", where, name,
                              excerpt(of_gate[name]), band.id, excerpt(value)),
                  "remove it, or use another band");
    of_gate[name] = value;
  }
}

/// Gives a gate that names a band its bound: the worse end. The plan keeps it, so the verdict does
/// not depend on later versions of the bands. `where`: of the gate.
void set_bound_of_band(Json& gate, const Case& of, const ProbeEntry& probe,
                       const std::string& where) {
  if (!gate.contains("band")) return;
  const std::string metric = with_probe(probe, gate.at("metric"));
  const Band& band = band_of_gate(gate, metric, where);
  check_band_applies(band, of, where);
  add_where_of_band(band, gate, where);
  const auto declared = std::ranges::find_if(
      probe.metrics, [&](const ProbeMetric& one) { return with_probe(probe, one.name) == metric; });
  const bool lower = declared != probe.metrics.end() && declared->better == Better::lower;
  const double bound = lower ? band.high : band.low;
  if (std::isnan(bound))
    throw Error(ErrorKind::input, where + "/band: " + band.id + " is open at its worse end",
                "give the gate a min or max of your own");
  gate[lower ? "max" : "min"] = bound;
  gate["source"] = band.context + "; " + band.source;
}

/// A misspelt metric would promise nothing.
void check_resolution(const Json& acceptance, const std::string& origin,
                      const ProbeCatalogue& catalogue) {
  std::vector<std::string> names = catalogue.metric_names();
  names.push_back("default");
  for (const auto& [name, share] : object_field(acceptance, "resolution").items())
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorKind::input,
                  fmt::format("{}: /acceptance/resolution/{}: unknown metric.{}", origin, name,
                              did_you_mean(name, names)),
                  "use \"default\" or one of `benchctl list metrics`");
}

}  // namespace

bool is_launch_axis(const std::string& name) {
  return name == "ranks_per_host" || name == "binding";
}

Suite suite_from_text(const std::string& text, const std::string& origin,
                      const ProbeCatalogue& catalogue, const SuiteChanges& changes) {
  // Not the values with defaults filled in: a measure block says only what it changes.
  const Json json = parse_json(text, origin);
  static const Schema schema = Schema::load(schema_path("suite"));
  schema.check(json, origin);
  Suite suite;
  suite.name = json.at("suite");
  suite.description = json.value("description", "");
  suite.path = origin;
  suite.digest = sha256(text);
  suite.measure = json.value("measure", Json::object());
  suite.telemetry = json.value("telemetry", Json::object());
  suite.required_facts = json.value("requires", Json());
  suite.acceptance = json.value("acceptance", Json::object());
  check_resolution(suite.acceptance, origin, catalogue);
  std::set<std::string> names;
  for (std::size_t i = 0; i < json.at("cases").size(); ++i) {
    const std::string at = "/cases/" + std::to_string(i);
    suite.cases.push_back(case_from_json(json["cases"][i]));
    Case& added = suite.cases.back();
    if (!names.insert(added.name).second)
      throw Error(ErrorKind::input,
                  origin + ": " + at + "/name: duplicate case name '" + added.name + "'",
                  "rename one of them");
    check_case(added, origin, at, catalogue);
    for (std::size_t gate = 0; gate < added.gates.size(); ++gate)
      set_bound_of_band(added.gates[gate], added, *catalogue.find(added.probe),
                        origin + ": " + at + "/gates/" + std::to_string(gate));
  }
  apply_changes(suite, changes, catalogue);
  return suite;
}

Suite read_suite(const fs::path& file, const ProbeCatalogue& catalogue,
                 const SuiteChanges& changes) {
  return suite_from_text(read_file(file), file.string(), catalogue, changes);
}

namespace {

std::vector<fs::path> suite_folders() {
  std::vector<fs::path> folders = site_folders();
  folders.insert(folders.begin(), data_root());
  for (fs::path& folder : folders) folder /= "suites";
  return folders;
}

/// Sorted. Files of other users are left out, as the site's folder may be a link to a shared one.
std::vector<fs::path> suites_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& file : fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, none))
    if (file.path().extension() == ".json" && file.is_regular_file(none) && is_trusted(file.path()))
      files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

[[noreturn]] void throw_unknown_suite(const std::string& name,
                                      const std::vector<std::string>& names) {
  std::error_code none;
  const bool here = !is_path(name) && fs::exists(name, none);
  throw Error(
      ErrorKind::input,
      "unknown suite '" + printable(name) + (is_path(name) ? "': no such file or suite name" : "'"),
      (here ? "write ./" + printable(name) + " for the file in this folder"
            : "write a file as ./NAME or NAME.json") +
          "; suites: " + join(names, ", ") + "." + did_you_mean(name, names));
}

}  // namespace

std::vector<fs::path> all_suites() {
  std::vector<fs::path> all;
  for (const fs::path& folder : suite_folders()) {
    const auto files = suites_in(folder);
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

std::string suite_name(const fs::path& file) {
  for (const fs::path& folder : suite_folders())
    if (const fs::path name = file.lexically_relative(folder);
        !name.empty() && *name.begin() != "..")
      return fs::path(name).replace_extension().generic_string();
  return file.stem().string();
}

fs::path find_suite(const std::string& name_or_path) {
  std::vector<std::string> names;
  for (const fs::path& file : all_suites()) {
    names.push_back(suite_name(file));
    if (names.back() == name_or_path) return file;
  }
  std::error_code none;
  if (is_path(name_or_path) && fs::exists(name_or_path, none) &&
      !fs::is_directory(name_or_path, none))
    return name_or_path;
  throw_unknown_suite(name_or_path, names);
}

bool repeats_in_rounds(const Suite& suite) {
  return !suite.acceptance.empty() && suite.acceptance.value("rounds", true);
}

bool is_installed_suite(const std::string& name) {
  return std::ranges::any_of(all_suites(),
                             [&](const fs::path& file) { return suite_name(file) == name; });
}

}  // namespace bench
