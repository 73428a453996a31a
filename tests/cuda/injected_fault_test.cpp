#include "probes/backends/cuda/injected_fault.h"

#include <cstdlib>

#include "probes/backends/cuda/host_buffer.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("words in host memory are checked one by one, and an injected fault is found") {
  const HostBuffer buffer(1 << 16, HostMemory::pageable, {});
  unsetenv("BENCH_FAULT");
  CHECK(count_wrong_words(buffer.words(), 5) == static_cast<double>(buffer.words().size()));
  fill_words(buffer.words(), 5);
  inject_fault(buffer.words().data());
  CHECK(count_wrong_words(buffer.words(), 5) == 0.0);
  setenv("BENCH_FAULT", "bit_flip", 1);
  inject_fault(buffer.words().data());
  unsetenv("BENCH_FAULT");
  CHECK(count_wrong_words(buffer.words(), 5) == 1.0);
  CHECK(count_wrong_words(buffer.words(), 6) > 1.0);
}

TEST_CASE("host memory can be asked for on a node") {
  const HostBuffer buffer(1 << 16, HostMemory::pageable, 0);
  CHECK(buffer.words().size() == (1 << 16) / 8);
  CHECK_THROWS(HostBuffer(1 << 16, HostMemory::pageable, 5000));
}

}  // namespace
}  // namespace bench
