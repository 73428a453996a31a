// A suite file, checked: every case names a probe, and every parameter, axis value and gate is one
// that the probe's schema allows. Errors name the file and the place in it.
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
  Json params = Json::object();      // as given; defaults come with the expansion
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
  Json required_facts = nullptr;  // names; null where the suite says nothing
  std::vector<Case> cases;
};

/// --only CASE and --set CASE.PARAM=V.
struct SuiteChanges {
  std::vector<std::string> only;
  std::vector<std::string> set;
};

/// Throws Error(input), Error(usage) for changes that fit nothing.
Suite read_suite(const std::filesystem::path& file, const ProbeCatalogue& catalogue,
                 const SuiteChanges& changes = {});
Suite suite_from_text(const std::string& text, const std::string& origin,
                      const ProbeCatalogue& catalogue, const SuiteChanges& changes = {});

/// The axes that are no parameters of a probe, because they make other launches.
bool is_launch_axis(const std::string& name);

/// A suite by its path, or by its name in suites/. Throws Error(input) with the nearest name.
std::filesystem::path find_suite(const std::string& name_or_path);
/// The files in suites/ and its folders.
std::vector<std::filesystem::path> all_suites();
/// By which find_suite() finds one of them: "smoke", "mlperf/llama31_8b".
std::string suite_name(const std::filesystem::path& file);

std::string sha256(std::string_view bytes);

}  // namespace bench
