// The command line of benchctl.
#pragma once

namespace bench {

/// Runs one command. The exit code is the verdict (core/error.h). Throws Error for everything else.
int run_cli(int argc, const char* const* argv);

}  // namespace bench
