#include "runner/plan/suite_check.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

const Json& properties_of(const ProbeEntry& probe) {
  static const Json none = Json::object();
  const auto found = probe.params.json().find("properties");
  return found == probe.params.json().end() ? none : *found;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

std::vector<std::string> metric_names(const ProbeEntry& probe) {
  std::vector<std::string> names;
  for (const ProbeMetric& metric : probe.metrics) names.push_back(metric.name);
  return names;
}

const ProbeEntry& known_probe(const Case& suite_case, const std::string& where,
                              const ProbeCatalogue& catalogue) {
  if (const ProbeEntry* probe = catalogue.find(suite_case.probe)) return *probe;
  throw Error(ErrorKind::input,
              where + "/probe: unknown probe '" + suite_case.probe + "'." +
                  did_you_mean(suite_case.probe, catalogue.names()),
              "probes: " + join(catalogue.names(), ", "));
}

void check_device(const Case& suite_case, const ProbeEntry& probe, const std::string& where) {
  if (std::ranges::find(probe.devices, suite_case.device) != probe.devices.end()) return;
  throw Error(
      ErrorKind::input,
      where + "/device: probe " + probe.name + " does not support '" + suite_case.device + "'",
      "supported devices: " + join(probe.devices, ", "));
}

void check_launch_value(const std::string& axis, const Json& value, const std::string& where) {
  constexpr std::array kBindings = {"none", "core", "socket", "share"};
  if (axis == "binding" && std::ranges::find(kBindings, value) == kBindings.end())
    throw Error(ErrorKind::input, where + ": unknown binding " + excerpt(value),
                "use one of: none, core, socket, share");
  const bool count = value.is_number_integer() && value > 0 && value <= 65536;
  if (axis == "ranks_per_host" && !count && value != "slots")
    throw Error(ErrorKind::input, where + ": invalid number of ranks: " + excerpt(value),
                "use a positive integer or \"slots\"");
}

void check_axis(const std::string& name, const Json& values, const ProbeEntry& probe,
                const std::string& origin, const std::string& at) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string place = at + "/" + std::to_string(i);
    if (is_launch_axis(name))
      check_launch_value(name, values[i], origin + ": " + place);
    else
      check_param(probe, name, values[i], origin, place);
  }
}

void check_gate(const Json& gate, const ProbeEntry& probe, const std::string& where) {
  std::string metric = gate.at("metric");
  if (metric.starts_with(probe.name + ".")) metric.erase(0, probe.name.size() + 1);
  const auto names = metric_names(probe);
  if (std::ranges::find(names, metric) != names.end()) return;
  throw Error(ErrorKind::input,
              where + "/metric: probe " + probe.name + " has no metric '" + metric + "'." +
                  did_you_mean(metric, names),
              "metrics: " + join(names, ", "));
}

/// A device has one rank; scope rail sets the network card, which the probe must support.
void check_parts(const ProbeEntry& probe, const Case& suite_case, const std::string& where) {
  const bool one_rank =
      suite_case.ranks_per_host == 1 && !suite_case.axes.contains("ranks_per_host");
  if (suite_case.scope.kind == ScopeKind::device && suite_case.device == "cuda" && !one_rank)
    throw Error(ErrorKind::input, where + "/ranks_per_host: a single GPU takes one rank",
                "remove ranks_per_host, or use scope host");
  const bool card =
      suite_case.params.contains("network_card") || suite_case.axes.contains("network_card");
  if (suite_case.scope.kind == ScopeKind::rail && card)
    throw Error(ErrorKind::input, where + ": scope rail sets the network card",
                "remove network_card, or use another scope");
  if (suite_case.scope.kind == ScopeKind::rail && suite_case.device == "cuda" &&
      !properties_of(probe).contains("network_card"))
    throw Error(
        ErrorKind::input,
        where + ": probe " + probe.name + " cannot be restricted to one network card on GPUs",
        "use another scope or the collective probe");
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// exec() ends a word at NUL, and an environment's name at '='.
void check_texts(const Json& value, const std::string& where) {
  if (value.is_string() && has_nul(value.get_ref<const std::string&>()))
    throw Error(ErrorKind::input, where + ": the text " + excerpt(value) + " contains NUL",
                "remove it");
  if (!value.is_structured()) return;
  for (const auto& [key, item] : value.items()) check_texts(item, where + "/" + printable(key));
}

void check_variables(const Json& variables, const std::string& where,
                     bool (*valid)(std::string_view), const std::string& form) {
  for (const auto& [name, value] : variables.items())
    if (!valid(name))
      throw Error(ErrorKind::input,
                  where + ": '" + printable(name) + "' is not a valid name of a variable", form);
  check_texts(variables, where);
}

/// What every launcher and shell passes on unchanged.
bool is_plain_variable(std::string_view name) {
  const auto allowed = [](char c) { return c == '_' || is_letter(c) || is_digit(c); };
  return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, allowed);
}

bool is_variable(std::string_view name) {
  return !name.empty() && !has_nul(name) && name.find('=') == std::string_view::npos;
}

}  // namespace

void check_param(const ProbeEntry& probe, const std::string& name, const Json& value,
                 const std::string& origin, const std::string& at) {
  const Json& properties = properties_of(probe);
  if (!properties.contains(name))
    throw Error(ErrorKind::input,
                origin + ": " + at + ": probe " + probe.name + " has no parameter '" + name + "'." +
                    did_you_mean(name, keys(properties)),
                properties.empty() ? "it has no parameters"
                                   : "parameters: " + join(keys(properties), ", "));
  Json schema = properties[name];
  if (probe.params.json().contains("$defs")) schema["$defs"] = probe.params.json()["$defs"];
  Schema(schema, probe.name + "." + name).check(value, origin, at);
  check_texts(value, origin + ": " + at);
  if (name == "environment" && value.is_object())
    check_variables(value, origin + ": " + at, is_variable, "use a name without '=' and NUL");
}

Json complete_params(const ProbeEntry& probe, const Json& params, const std::string& origin,
                     const std::string& at) {
  return probe.params.check(params, origin, at);
}

void check_case(const Case& suite_case, const std::string& origin, const std::string& at,
                const ProbeCatalogue& catalogue) {
  const std::string where = origin + ": " + at;
  const ProbeEntry& probe = known_probe(suite_case, where, catalogue);
  check_device(suite_case, probe, where);
  check_parts(probe, suite_case, where);
  check_variables(suite_case.env, where + "/env", is_plain_variable,
                  "use letters, digits and '_', not starting with a digit");
  for (const auto& [name, value] : suite_case.params.items()) {
    if (suite_case.axes.contains(name))
      throw Error(ErrorKind::input, where + ": '" + name + "' is in both params and axes",
                  "keep one of them");
    check_param(probe, name, value, origin, at + "/params/" + name);
  }
  for (const auto& [name, values] : suite_case.axes)
    check_axis(name, values, probe, origin, at + "/axes/" + name);
  for (std::size_t i = 0; i < suite_case.gates.size(); ++i)
    check_gate(suite_case.gates[i], probe, where + "/gates/" + std::to_string(i));
}

}  // namespace bench
