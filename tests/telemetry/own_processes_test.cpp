#include "probes/facts/own_processes.h"

#include <unistd.h>

#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("a rank alone owns its own process") {
  const auto group = make_self_group();
  CHECK(processes_here(*group) == std::set<int>{getpid()});
}

}  // namespace
}  // namespace bench
