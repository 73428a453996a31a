#include "runner/plan/variants.h"

#include <fmt/format.h>

#include "core/json_text.h"
#include "runner/plan/suite_check.h"

namespace bench {

Error too_many_jobs(const std::string& case_name) {
  return {ErrorKind::input, fmt::format("case '{}' expands to more than {} jobs", case_name, kMostJobs),
          "use lists in params, which sweep inside one job, instead of axes and repeat"};
}

namespace {

/// One value from each axis.
using Choice = std::map<std::string, Json>;

std::vector<Choice> axis_choices(const std::map<std::string, Json>& axes,
                                 const std::string& case_name) {
  std::vector<Choice> result = {{}};
  for (const auto& [name, values] : axes) {
    if (result.size() * values.size() > kMostJobs) throw too_many_jobs(case_name);
    std::vector<Choice> longer;
    for (const Choice& choice : result)
      for (const Json& value : values) {
        longer.push_back(choice);
        longer.back()[name] = value;
      }
    result = std::move(longer);
  }
  return result;
}

Json params_of(const Case& suite_case, const Choice& choice) {
  Json params = suite_case.params;
  for (const auto& [name, value] : choice)
    if (!is_launch_axis(name)) params[name] = value;
  return params;
}

/// Jobs with equal environment share a process: values that need a separate process go there.
std::map<std::string, std::string> environment_of(const Case& suite_case, const ProbeEntry& probe,
                                                  const Json& params) {
  std::map<std::string, std::string> environment = suite_case.env;
  environment.insert(probe.environment.begin(),
                     probe.environment.end());  // the case's environment wins
  const Json& properties = probe.params.json().at("properties");
  for (const std::string& name : probe.process_params) {
    const Json& value = params.at(name);
    if (value == properties.at(name).value("default", Json())) continue;
    environment["BENCH_PARAM_" + name] = text_of(value);
  }
  return environment;
}

}  // namespace

std::vector<Variant> variants(const Suite& suite, const Case& suite_case, const ProbeEntry& probe) {
  std::vector<Variant> result;
  for (Choice& choice : axis_choices(suite_case.axes, suite_case.name)) {
    Json params = complete_params(probe, params_of(suite_case, choice),
                                  suite.path + ": case '" + suite_case.name + "'", "");
    auto env = environment_of(suite_case, probe, params);
    result.push_back({std::move(choice), std::move(params), std::move(env)});
  }
  return result;
}

Json chosen(const Variant& variant, const std::string& axis, const Json& otherwise) {
  const auto found = variant.choice.find(axis);
  return found == variant.choice.end() ? otherwise : found->second;
}

}  // namespace bench
