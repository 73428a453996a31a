#include "core/error.h"

#include <cerrno>

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("an error keeps its kind and hint") {
  const Error error(ErrorKind::input, "what", "hint");
  CHECK(error.kind() == ErrorKind::input);
  CHECK(error.what() == std::string("what"));
  CHECK(error.hint() == "hint");
}

TEST_CASE("each kind of error has its exit code") {
  CHECK(static_cast<int>(exit_code(ErrorKind::usage)) == 2);
  CHECK(static_cast<int>(exit_code(ErrorKind::input)) == 2);
  CHECK(static_cast<int>(exit_code(ErrorKind::environment)) == 4);
  CHECK(static_cast<int>(exit_code(ErrorKind::internal)) == 4);
  CHECK(static_cast<int>(exit_code(ErrorKind::interrupted)) == 130);
}

TEST_CASE("a failed system call becomes an error with its reason") {
  errno = ENOSPC;
  CHECK_THROWS_WITH(throw_errno("write x"), "cannot write x: No space left on device");
}
