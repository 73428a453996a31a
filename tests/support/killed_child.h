// A child process that kills itself (SIGKILL) at some moment of saving, and what it had told
// before.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/catch.h"

namespace bench {

struct KilledChild {
  bool killed = false;  // else it ended by itself, with status 0
  int saved = 0;        // the last step that it told
};

/// Runs `save(told)` in a child, which writes the number of each step that is saved, one byte, to
/// the descriptor `told`, and never returns.
template <class Save>
KilledChild run_until_killed(const Save& save) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) save(ends[1]);
  close(ends[1]);
  KilledChild result;
  for (char step = 0; read(ends[0], &step, 1) == 1;) result.saved = step;
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  result.killed = WIFSIGNALED(status);
  if (result.killed)
    CHECK(WTERMSIG(status) == SIGKILL);
  else
    CHECK(WEXITSTATUS(status) == 0);
  return result;
}

}  // namespace bench
