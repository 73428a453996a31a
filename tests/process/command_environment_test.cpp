#include <poll.h>

#include <cstdlib>

#include "runner/launch/process.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("a child inherits the environment with the command's changes and removals") {
  setenv("BENCH_TEST_KEPT", "1", 1);
  setenv("BENCH_TEST_GONE", "2", 1);
  setenv("BENCH_TEST_BOTH", "3", 1);
  Process process({{"env"}, {{"BENCH_TEST_BOTH", "4"}}, {"BENCH_TEST_GONE", "BENCH_TEST_BOTH"}});
  std::string text;
  for (bool ended = false; !ended; poll(nullptr, 0, 5)) {
    ended = process.ended();
    read_some(process.output, text, 1 << 20);
  }
  CHECK(process.reap().clean());
  CHECK_THAT("\n" + text, Contains("\nBENCH_TEST_KEPT=1\n") && Contains("\nBENCH_TEST_BOTH=4\n"));
  CHECK_THAT(text, !Contains("BENCH_TEST_GONE"));
  for (const char* name : {"BENCH_TEST_KEPT", "BENCH_TEST_GONE", "BENCH_TEST_BOTH"}) unsetenv(name);
}
