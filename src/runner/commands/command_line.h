// benchctl's command line: all commands, and the one that the user gave.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "runner/commands/command.h"

namespace bench {

/// Every command with its options, in the order of `benchctl --help`. Commands put their exit code
/// into `result`, which must outlive what is returned.
std::unique_ptr<CLI::App> make_command_line(CommandResult& result);

/// Runs one command. The exit code is the verdict (core/error.h). Throws Error for everything else.
int run_command_line(int argc, const char* const* argv);

}  // namespace bench
