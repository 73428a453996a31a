#include "runner/plan/suite_changes.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "runner/plan/suite_check.h"

namespace bench {
namespace {

std::vector<std::string> case_names(const Suite& suite) {
  std::vector<std::string> names;
  for (const Case& one : suite.cases) names.push_back(one.name);
  return names;
}

Case& find_case(Suite& suite, const std::string& name, const std::string& option) {
  const auto found = std::ranges::find(suite.cases, name, &Case::name);
  if (found != suite.cases.end()) return *found;
  const auto names = case_names(suite);
  throw Error(ErrorKind::usage,
              option + ": suite " + suite.name + " has no case '" + name + "'." +
                  did_you_mean(name, names),
              "cases: " + join(names, ", "));
}

/// Parsed as JSON if possible, else a string: --set gemm.dtype=f32 needs no quotes.
Json value_of(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

void set(Suite& suite, const std::string& change, const ProbeCatalogue& catalogue) {
  const std::string option = "--set " + change;
  const auto equals = change.find('=');
  const auto dot =
      change.rfind('.', equals);  // case names may contain dots, parameters do not
  if (equals == std::string::npos || dot == std::string::npos || dot == 0)
    throw Error(ErrorKind::usage, option + ": expected CASE.PARAM=VALUE",
                "for example --set gemm.threads=1");
  Case& target = find_case(suite, change.substr(0, dot), option);
  const std::string name = change.substr(dot + 1, equals - dot - 1);
  const Json value = value_of(change.substr(equals + 1));
  check_param(*catalogue.find(target.probe), name, value, option, "/" + name);
  target.params[name] = value;
  target.axes.erase(name);
}

}  // namespace

void apply_changes(Suite& suite, const SuiteChanges& changes, const ProbeCatalogue& catalogue) {
  for (const std::string& change : changes.set) set(suite, change, catalogue);
  for (const std::string& name : changes.only) find_case(suite, name, "--only");
  if (changes.only.empty()) return;
  std::erase_if(suite.cases, [&](const Case& one) {
    return std::ranges::find(changes.only, one.name) == changes.only.end();
  });
}

}  // namespace bench
