// The subcommands of `benchctl mlperf`, each in its own file.
#pragma once

#include "runner/commands/command.h"

namespace bench {

void add_mlperf_check(CLI::App& mlperf, CommandResult& result);
void add_mlperf_score(CLI::App& mlperf, CommandResult& result);
void add_mlperf_scaling(CLI::App& mlperf, CommandResult& result);
void add_mlperf_compare(CLI::App& mlperf, CommandResult& result);
void add_mlperf_package(CLI::App& mlperf, CommandResult& result);

}  // namespace bench
