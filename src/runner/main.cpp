// benchctl: turns every error into a message and an exit code.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/commands/command_line.h"

namespace {

/// After a failed job, hundreds of hosts are checked at once, with three pipes each.
void allow_many_files() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Where memory runs out in a destructor (nlohmann::json's allocate), no handler is asked. This
/// allocates nothing.
[[noreturn]] void end_without_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText = "error: not enough memory\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(static_cast<int>(bench::ExitCode::environment));
  } catch (...) {  // any other is a bug, and a core dump helps
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bench;
  try {
    std::set_terminate(end_without_memory);
    open_standard_descriptors();
    allow_many_files();
    return run_command_line(argc, argv);
  } catch (const Error& error) {
    say(Level::error, printable(error.what()));
    if (!error.hint().empty()) say(Level::info, "  " + printable(error.hint()));
    return static_cast<int>(exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    say(Level::error, "not enough memory");
    say(Level::info, "  free memory, or raise the limit that `ulimit -v` shows");
    return static_cast<int>(ExitCode::environment);
  } catch (const std::system_error& error) {  // of file systems and threads
    say(Level::error, printable(error.what()));
    return static_cast<int>(ExitCode::environment);
  } catch (const std::exception& error) {
    say(Level::error, "internal: " + printable(error.what()));
    say(Level::info, "  this is a bug in benchctl; please report it with the full command line");
    return static_cast<int>(exit_code(ErrorKind::internal));
  }
}
