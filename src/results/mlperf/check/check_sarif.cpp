// Static Analysis Results Interchange Format, OASIS standard 2.1.0.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "core/version.h"
#include "results/mlperf/check/check_report.h"
#include "results/mlperf/strict/strict_check.h"

namespace bench::mlperf {
namespace {

/// A URI reference (RFC 3986): relative paths stay relative to where the check ran.
std::string uri(const std::filesystem::path& path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string text = path.is_absolute() ? "file://" : "";
  for (const char c : path.native()) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       kPlain.find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

Json location(const std::filesystem::path& path, const Finding& finding) {
  Json physical = {{"artifactLocation", {{"uri", uri(path)}}}};
  if (finding.line > 0) physical["region"]["startLine"] = finding.line;
  if (finding.line > 0 && finding.column > 0) physical["region"]["startColumn"] = finding.column;
  return {{"physicalLocation", physical}};
}

std::string rule_id(const Finding& finding) {
  return (finding.official ? "official." : "strict.") + finding.rule;
}

std::string message(const Finding& finding) {
  std::string text = finding.text;
  if (!finding.expected.empty()) text += "; expected " + finding.expected;
  if (!finding.found.empty()) text += ", found " + finding.found;
  return text.empty() ? finding.rule : text;
}

class Results {
 public:
  void add(const std::filesystem::path& path, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      add_rule(finding);
      Json result = {{"ruleId", rule_id(finding)},
                     {"level", to_string(finding.severity)},
                     {"message", {{"text", message(finding)}}},
                     {"locations", Json::array({location(path, finding)})}};
      results_.push_back(std::move(result));
    }
  }

  Json rules() const {
    Json list = Json::array();
    for (const auto& [id, rule] : rules_) list.push_back(rule);
    return list;
  }

  const Json& results() const { return results_; }

 private:
  void add_rule(const Finding& finding) {
    const std::string id = rule_id(finding);
    if (rules_.contains(id)) return;
    Json rule = {{"id", id}};
    const auto& known = strict_rules();
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const StrictRule& one) { return one.id == finding.rule; });
    if (!finding.official && at != known.end()) rule["shortDescription"]["text"] = at->text;
    if (!finding.where.empty()) rule["help"]["text"] = finding.where;
    rules_[id] = rule;
  }

  std::map<std::string, Json> rules_;
  Json results_ = Json::array();
};

}  // namespace

Json to_sarif(const CheckReport& report) {
  Results results;
  for (const FileCheck& file : report.files) results.add(file.path, file.findings);
  for (const FolderCheck& folder : report.folders) results.add(folder.path, folder.findings);
  const Json driver = {
      {"name", "benchctl mlperf check"}, {"version", version()}, {"rules", results.rules()}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results.results()}}})}};
}

}  // namespace bench::mlperf
