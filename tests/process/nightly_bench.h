// Nights as started by a scheduler, with a fake rank that reports scripted values, so that tests
// control when a host is slow.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/process/program.h"

namespace bench {

struct NightBench : BenchctlFolder {
  std::filesystem::path values = folder.path() / "values.txt";

  /// Values of the next jobs in order; the last one repeats.
  void tell(const std::string& list) const { std::ofstream(values) << list; }

  std::string night_suite(const Json& env = Json::object(), double cooldown_s = 0.0) const {
    Json speed = {{"name", "speed"}, {"probe", "null"}, {"env", env}, {"cooldown_s", cooldown_s}};
    speed["env"]["FAULTY_RANK_VALUES"] = values.string();
    const Json steady = {{"name", "steady"},
                         {"probe", "null"},
                         {"params", {{"value", 7}}},
                         {"cooldown_s", cooldown_s}};
    const Json suite = {{"suite", "night"}, {"cases", {speed, steady}}};
    const auto path = folder.path() / "night.json";
    std::ofstream(path) << suite;
    return path.string();
  }

  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> list = {"nightly",
                                     "--suite",
                                     night_suite(),
                                     "--budget",
                                     "60s",
                                     "--rank-program",
                                     (program_folder() / "faulty_rank").string()};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }

  Answer night(const std::vector<std::string>& more = {}) const { return run(words(more)); }
  Json night_json(std::vector<std::string> more = {}) const {
    more.push_back("--json");
    return parse_json(night(more).out, "nightly");
  }

  std::string script(const std::string& name, const std::string& text) const {
    const auto path = folder.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    chmod(path.c_str(), 0755);
    return path.string();
  }
};

/// Nine nights of a healthy host, created once as the history of every test.
inline const NightBench& healthy_past() {
  static const NightBench past;
  static const bool made = [] {
    for (const char* value :
         {"100.1", "99.7", "100.4", "100.0", "99.9", "100.3", "99.8", "100.2", "99.6"}) {
      past.tell(value);
      past.night();
    }
    return true;
  }();
  (void)made;
  return past;
}

struct NightAfterNine : NightBench {
  NightAfterNine() {
    const NightBench& past = healthy_past();
    std::filesystem::copy(past.folder.path() / "runs", folder.path() / "runs",
                          std::filesystem::copy_options::recursive);
    std::filesystem::copy(past.database, database);
  }
};

inline const Json* finding_of(const Json& night, const std::string& kind) {
  for (const Json& finding : night["findings"])
    if (finding["kind"] == kind) return &finding;
  return nullptr;
}

}  // namespace bench
