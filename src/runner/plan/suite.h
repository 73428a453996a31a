// A validated suite file: every case names a probe, and its parameters, axis values and gates match
// the probe's schema. Errors give the file and JSON pointer.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "runner/plan/probe_catalogue.h"
#include "runner/plan/scopes.h"

namespace bench {

struct Case {
  std::string name;
  std::string probe;
  std::string device = "host";
  Json params = Json::object();      // without defaults, which the expansion adds
  std::map<std::string, Json> axes;  // parameter, ranks_per_host or binding -> array of values
  Scope scope;
  Json ranks_per_host = 1;  // a number, or "slots"
  std::string binding = "core";
  int repeat = 1;
  double timeout_s = 60.0;
  double cooldown_s = 0.0;
  std::map<std::string, std::string> env;
  Json measure = Json::object();
  Json telemetry = Json::object();
  Json gates = Json::array();
};

struct Suite {
  std::string name;
  std::string description;
  std::string path;
  std::string digest;  // SHA-256 of the file's bytes, hexadecimal
  Json measure = Json::object();
  Json telemetry = Json::object();
  Json required_facts = nullptr;     // names; null if not specified
  Json acceptance = Json::object();  // "resolution", "budget_s", "rounds"
  std::vector<Case> cases;
};

/// Whether repeats are rounds over the whole suite: of an acceptance that does not forbid it.
bool repeats_in_rounds(const Suite& suite);

/// --only CASE and --set CASE.PARAM=V.
struct SuiteChanges {
  std::vector<std::string> only;
  std::vector<std::string> set;
};

/// Throws Error(input), and Error(usage) for changes that match nothing.
Suite read_suite(const std::filesystem::path& file, const ProbeCatalogue& catalogue,
                 const SuiteChanges& changes = {});
Suite suite_from_text(const std::string& text, const std::string& origin,
                      const ProbeCatalogue& catalogue, const SuiteChanges& changes = {});

/// Axes that are launch settings, not probe parameters.
bool is_launch_axis(const std::string& name);

/// Finds a suite by name: an installed one, else one in suites/ of the site's folders
/// (site_folders()); or by path, with a '/' or ending in .json. A suite is code, so a bare name is
/// never a file of the current folder. Throws Error(input) with a suggestion.
std::filesystem::path find_suite(const std::string& name_or_path);
/// Whether all_suites() has this name.
bool is_installed_suite(const std::string& name);
/// The files in suites/ and its folders, installed ones first, then those of the site.
std::vector<std::filesystem::path> all_suites();
/// The name for find_suite(): "smoke", "mlperf/llama31_8b".
std::string suite_name(const std::filesystem::path& file);

}  // namespace bench
