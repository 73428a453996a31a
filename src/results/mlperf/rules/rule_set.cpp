#include "results/mlperf/rules/rule_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/text.h"
#include "results/mlperf/rules/rule_set_json.h"

namespace bench::mlperf {
namespace {

std::optional<double> at_batch(const Expression& expression, double global_batch_size) try {
  const State state = {Operand(global_batch_size)};
  const Operand result = expression.evaluate({.state = &state});
  if (!result.is_number()) return {};
  return multiply(result, Operand(1.0)).real;
} catch (const EvaluationError&) {
  return {};
}

/// 10.1.0 comes after 9.0.0.
std::vector<int> parts_of(const std::string& version) {
  std::vector<int> parts;
  int part = 0;
  for (const char byte : version + ".") {
    if (byte == '.') {
      parts.push_back(part);
      part = 0;
    } else {
      part = part * 10 + (byte - '0');
    }
  }
  return parts;
}

bool is_version(const std::string& name) {
  constexpr std::size_t kLongest = 11;
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of("0123456789.") == std::string::npos;
}

RuleSet read_rule_set(RuleSetFiles& files, const std::filesystem::path& folder,
                      const std::string& version) {
  return rule_set_from_json(files.whole(version), (folder / (version + ".json")).string());
}

}  // namespace

std::optional<double> EvaluationSchedule::step(double global_batch_size) const {
  return at_batch(every, global_batch_size);
}

std::optional<double> EvaluationSchedule::start(double global_batch_size) const {
  return at_batch(first, global_batch_size);
}

std::filesystem::path rule_set_folder() { return data_root() / "rulesets"; }

std::vector<std::string> rule_set_versions(const std::filesystem::path& folder) {
  std::vector<std::string> versions;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure))
    if (entry.path().extension() == ".json" && is_version(entry.path().stem().string()))
      versions.push_back(entry.path().stem().string());
  if (versions.empty())
    throw Error(ErrorKind::environment, "no rule sets in " + folder.string(),
                "keep rulesets/ next to schemas/, as in the source tree or the bundle");
  std::sort(versions.begin(), versions.end(),
            [](const std::string& a, const std::string& b) { return parts_of(a) < parts_of(b); });
  return versions;
}

RuleSet load_rule_set(const std::filesystem::path& folder, std::string_view version) {
  const std::vector<std::string> known = rule_set_versions(folder);
  if (std::find(known.begin(), known.end(), version) == known.end())
    throw Error(ErrorKind::input,
                fmt::format("unknown rule set '{}'.{}", printable(version),
                            did_you_mean(version, known)),
                "use one of: " + join(known, ", "));
  RuleSetFiles files(folder);
  return read_rule_set(files, folder, std::string(version));
}

std::vector<RuleSet> load_rule_sets(const std::filesystem::path& folder) {
  std::vector<RuleSet> all;
  RuleSetFiles files(folder);
  for (const std::string& version : rule_set_versions(folder))
    all.push_back(read_rule_set(files, folder, version));
  return all;
}

}  // namespace bench::mlperf
