#include "devices/cuda/injected_fault.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "devices/cuda/cuda_copies.h"
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

TEST_CASE("an injected fault in a product's result is one that rounding cannot hide") {
  std::vector<float> values = {90.0f, -7.0f, 0.5f, 1.0f};
  const std::vector<float> before = values;
  const auto inject = [&] { inject_huge_value(std::as_writable_bytes(std::span(values)), 4); };
  unsetenv("BENCH_FAULT");
  inject();
  CHECK(values == before);
  setenv("BENCH_FAULT", "bit_flip", 1);
  inject();
  CHECK(values[0] == 90.0f);
  CHECK(values[1] == -7.0f);
  CHECK(values[2] > 1e30f);
  std::vector<std::int32_t> sums = {12, -5};
  inject_huge_value(std::as_writable_bytes(std::span(sums)), 4);
  CHECK(sums[0] == 12 + (1 << 30));
  unsetenv("BENCH_FAULT");
}

TEST_CASE("memory on a node that there is not is refused, not failed") {
  CHECK_THROWS_AS(HostBuffer(1 << 16, HostMemory::pageable, 900), MemoryRefused);
}

TEST_CASE("host memory can be asked for on a node") {
  const HostBuffer buffer(1 << 16, HostMemory::pageable, 0);
  CHECK(buffer.words().size() == (1 << 16) / 8);
  CHECK_THROWS(HostBuffer(1 << 16, HostMemory::pageable, 5000));
}

}  // namespace
}  // namespace bench
