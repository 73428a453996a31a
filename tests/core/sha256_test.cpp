#include "core/sha256.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("a digest of parts is that of the whole") {
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 parts;
  for (const char* part : {"a", "", "bc"}) parts.update(part);
  CHECK(parts.finish() == sha256("abc"));
}

}  // namespace
}  // namespace bench
