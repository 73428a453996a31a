// What `benchctl nightly` and its install share: which night it is.
#pragma once

#include <string>
#include <vector>

#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"

namespace bench {

struct NightOptions : PlanOptions, ReadingOptions {
  NightOptions() { suite = "nightly"; }
  std::string budget;  // "" for the default: 30m, in a prolog 20s
  std::string faults, html, junit, prometheus;
  std::vector<std::string> hooks;
  std::vector<std::string> thresholds;
  int reruns = 3;
  double unchecked_days = 7.0;
  bool all = false, prolog = false, measured_only = false;
};

void add_night_options(CLI::App& command, NightOptions& options);

/// The words by which this night is begun again from anywhere: absolute paths, no --json, no
/// --prolog.
std::vector<std::string> night_words(const NightOptions& options);

void add_nightly_install(CLI::App& nightly);
void add_nightly_pick(CLI::App& nightly, CommandResult& result);
void add_nightly_prune(CLI::App& nightly, CommandResult& result);

}  // namespace bench
