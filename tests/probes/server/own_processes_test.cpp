#include <unistd.h>

#include "probes/server/rank_program.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("a single rank owns its own process") {
  const auto group = make_self_group();
  CHECK(processes_here(*group) == std::set<int>{getpid()});
}

}  // namespace
}  // namespace bench
