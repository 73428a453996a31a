// The part of `benchctl import` that takes results; import.cpp has the part that takes hosts.
#pragma once

#include "runner/commands/command.h"

namespace bench {

void add_import_results(CLI::App& import, CommandResult& result);

}  // namespace bench
