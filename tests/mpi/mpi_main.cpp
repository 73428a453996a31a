// Every rank runs every test; the program fails when any rank failed.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "probes/server/join_group.h"
#include "tests/mpi/mpi_test.h"
#include "tests/support/run_tests.h"

namespace {
std::unique_ptr<bench::Group> shared_group;
}

namespace bench {
Group& mpi_test_group() { return *shared_group; }
}  // namespace bench

int main(int argc, char** argv) {
  setenv("BENCH_PARAM_loads", "communication", 1);  // some tests compute alongside MPI
  shared_group = bench::join_group();
  if (shared_group->size() < 2) {
    std::puts("this program wants mpirun -np 2 or more");
    return 1;
  }
  double failures = run_tests(argc, argv);
  shared_group->max(std::span(&failures, 1));
  shared_group.reset();
  return failures > 0 ? 1 : 0;
}
