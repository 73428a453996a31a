#include "core/error.h"

#include <cerrno>
#include <cstring>

namespace bench {

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return ExitCode::bad_input;
    case ErrorKind::interrupted:
      return ExitCode::interrupted;
    case ErrorKind::environment:
    case ErrorKind::internal:
      return ExitCode::environment;
  }
  return ExitCode::environment;
}

void throw_errno(const std::string& doing, const std::string& hint) {
  const int code = errno;
  throw Error(ErrorKind::environment, "cannot " + doing + ": " + std::strerror(code), hint);
}

}  // namespace bench
