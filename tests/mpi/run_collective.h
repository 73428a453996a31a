// Brief jobs of the collective probe.
#pragma once

#include "tests/mpi/mpi_test.h"

namespace bench {

inline MpiRun run_collective(Group& group, const Json& params) {
  Json all = {
      {"placements", {"out_of_place"}}, {"min_bytes", 64}, {"max_bytes", 4096}, {"factor", 8}};
  all.update(params);
  return run_briefly(group, "collective", all);
}

}  // namespace bench
