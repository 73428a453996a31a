// What a rank takes from its launcher's environment when it joins the others.
#include "probes/server/join_group.h"

#include <cstdlib>

#include "core/secret.h"
#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("the secret of a group is not left to the children of a rank, however it joins") {
  for (const GroupKind kind : {GroupKind::none, GroupKind::tcp, GroupKind::automatic}) {
    setenv(kGroupSecret, "0123456789abcdef0123456789abcdef", 1);
    CHECK(join_group(kind)->size() == 1);
    CHECK(std::getenv(kGroupSecret) == nullptr);
  }
}
