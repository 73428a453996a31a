#include "devices/cuda/rotation.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST_CASE("the sets that calls go through are more than four times the L2 together") {
  for (const std::size_t l2 : {6 * kMebibyte, 40 * kMebibyte, 50 * kMebibyte, 126 * kMebibyte})
    for (const std::size_t set : {std::size_t{256}, 64 * kMebibyte / 1000, 24 * kMebibyte,
                                  160 * kMebibyte, 4096 * kMebibyte}) {
      CHECK(rotation_sets(set, l2) * set > 4 * l2);
      CHECK((rotation_sets(set, l2) - 1) * set <= 4 * l2);
    }
}

TEST_CASE("a set that is past the L2 by itself stays alone") {
  CHECK(rotation_sets(384 * kMebibyte, 50 * kMebibyte) == 1);
  CHECK(rotation_sets(0, 0) == 1);
}

TEST_CASE("no set of a rotation is aligned worse than memory from cudaMalloc") {
  CHECK(aligned_for_rotation(1) == 256);
  CHECK(aligned_for_rotation(256) == 256);
  CHECK(aligned_for_rotation(257) == 512);
}

}  // namespace
}  // namespace bench
