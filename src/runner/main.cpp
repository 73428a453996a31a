// benchctl: turns every error into a message and an exit code.
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <string>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/cli.h"

namespace {

/// After a failed job, hundreds of hosts are checked at once, with three pipes each.
void allow_many_files() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bench;
  allow_many_files();
  try {
    return run_cli(argc, argv);
  } catch (const Error& error) {
    say(Level::error, printable(error.what()));
    if (!error.hint().empty()) say(Level::info, "  " + printable(error.hint()));
    return static_cast<int>(exit_code(error.kind()));
  } catch (const std::exception& error) {
    say(Level::error, "internal: " + printable(error.what()));
    say(Level::info, "  this is a bug in benchctl; please report it with the full command line");
    return static_cast<int>(exit_code(ErrorKind::internal));
  }
}
