// Options that control how jobs are started; used by run and resume.
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

/// The command with which a batch job resumes a run; the run's name must be appended.
std::vector<std::string> resume_command(const DispatchOptions& options,
                                        const std::filesystem::path& database);

LaunchSite launch_site(const DispatchOptions& options);
/// Golden values of the site are next to `database`. Throws Error(input) if two contradict.
DispatcherSettings dispatcher_settings(const DispatchOptions& options, const Inventory& inventory,
                                       const std::filesystem::path& database);

}  // namespace bench
