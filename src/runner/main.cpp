// benchctl: the one place where errors end and become a message and an exit code.
#include <exception>
#include <string>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/cli.h"

int main(int argc, char** argv) {
  using namespace bench;
  try {
    return run_cli(argc, argv);
  } catch (const Error& error) {
    say(Level::error, printable(error.what()));
    if (!error.hint().empty()) say(Level::info, "  " + printable(error.hint()));
    return static_cast<int>(exit_code(error.kind()));
  } catch (const std::exception& error) {
    say(Level::error, "internal: " + printable(error.what()));
    say(Level::info, "  this is a mistake in benchctl; please report it with the command");
    return static_cast<int>(exit_code(ErrorKind::internal));
  }
}
