// benchctl: turns every error into a message and an exit code.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/version.h"
#include "runner/commands/command.h"

namespace bench {
namespace {

// The command line of benchctl.

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// CLI11 suggests no similar name, so an unknown command is reported before it parses.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  const auto names = command_names(app);
  if (argc < 2)
    throw Error(ErrorKind::usage, "no command given",
                "commands: " + join(names, ", ") + "; see benchctl --help");
  const std::string word = argv[1];
  if (word.starts_with("-") || std::ranges::find(names, word) != names.end()) return;
  throw Error(ErrorKind::usage, "unknown command '" + word + "'." + did_you_mean(word, names),
              "commands: " + join(names, ", "));
}

/// The command that was given, down to `import slurm`.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// "import slurm "; "" for the program itself.
std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr
             ? ""
             : path_of(*command.get_parent()) + command.get_name() + " ";
}

[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  std::string what = error.what();
  if (const auto extras = app.remaining(true); !extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    const auto known = word.starts_with("-") ? option_names(command) : command_names(command);
    what = "unknown argument '" + word + "'." + did_you_mean(word, known);
  }
  throw Error(ErrorKind::usage, what,
              "benchctl " + path_of(command) + "--help lists what it takes");
}

void describe(CLI::App& app) {
  app.description("benchctl " + std::string(version()) +
                  ": run benchmark suites on a cluster, store the results, and report them.");
  app.footer(
      "Example: benchctl run smoke\n\n"
      "Exit codes: 0 all passed; 1 a gate failed or a result is invalid; 2 bad usage or input;\n"
      "3 requested measurement not possible; 4 environment problem on this machine; 130 "
      "interrupted.");
  app.set_version_flag("--version", "benchctl " + std::string(version()));
  app.require_subcommand(1);
}

/// Runs one command. The exit code is the verdict (core/error.h). Throws Error for everything else.
int run_cli(int argc, const char* const* argv) {
  CLI::App app{"", "benchctl"};
  CommandResult result;
  describe(app);
  for (const auto add : {add_list, add_plan, add_run, add_resume, add_show, add_runs, add_export,
                         add_import, add_rebuild, add_note, add_golden, add_accept, add_topology,
                         add_train, add_report, add_compare, add_nightly, add_mlperf, add_unstage})
    add(app, result);
  check_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(chosen_command(app).help());
  } catch (const CLI::CallForVersion&) {
    print("benchctl " + std::string(version()) + "\n");
  } catch (const CLI::ParseError& error) {
    refuse(app, error);
  }
  return static_cast<int>(result.code);
}

}  // namespace
}  // namespace bench

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
    return run_cli(argc, argv);
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
