// The command line of benchctl: its commands, its version, help that names the nearest word.
#pragma once

namespace bench {

/// Runs one command. The exit code is the verdict (core/error.h). Throws Error for everything else.
int run_cli(int argc, const char* const* argv);

}  // namespace bench
