#include "runner/launch/rank_process.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

TEST_CASE("the tail of a rank's log has its last lines, preceded by its first error") {
  const TemporaryDirectory folder;
  RankLog log(folder.path() / "log.txt");
  log.add_line("error: n2 has no network card 'eth9'");
  log.add_line("error: another");
  CHECK(log.stderr_tail() == "error: n2 has no network card 'eth9' | error: another");
  for (const char* line : {"mpirun detected", "-----", "that a process", "ended", "with", "code",
                           "4", "on", "host n2"})
    log.add_line(line);
  CHECK(log.stderr_tail() ==
        "error: n2 has no network card 'eth9' | mpirun detected | that a process | ended | with | "
        "code | 4 | on | host n2");
  log.start_job();
  log.add_line("of the next job");
  CHECK(log.stderr_tail() == "of the next job");
}
