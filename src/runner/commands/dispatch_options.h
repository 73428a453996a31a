// The options that say how jobs are started: run and resume share them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/dispatch/dispatcher.h"

namespace bench {

struct DispatchOptions {
  std::string launcher = "auto";
  std::string rank_program;
  std::string stage;  // a bundle
  int parallel = 0;   // 0: as many as there are hosts, at most kMostAtOnce
};

inline constexpr int kMostAtOnce = 64;

void add_dispatch_options(CLI::App& command, DispatchOptions& options);

/// The command of a batch job that goes on with a run, but for the run's name, which comes last.
std::vector<std::string> resume_command(const DispatchOptions& options,
                                        const std::filesystem::path& database);

LaunchSite launch_site(const DispatchOptions& options);
/// `database`: golden values of this site lie beside it. Throws Error(input) where two contradict.
DispatcherSettings dispatcher_settings(const DispatchOptions& options, const Inventory& inventory,
                                       const std::filesystem::path& database);

}  // namespace bench
