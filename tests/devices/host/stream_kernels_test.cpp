#include "devices/host/stream_kernels.h"

#include <bit>
#include <memory>
#include <string>

#include "devices/host/memory_errors.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

constexpr double kPoison = -7.0;

/// Three aligned arrays with a line of poison behind each.
struct Arrays {
  explicit Arrays(std::size_t length) : n(length) {
    storage = std::make_unique<Line[]>(3 * (n / 8 + 1));
    a = &storage[0].value[0];
    b = a + n + 8;
    c = b + n + 8;
    for (std::size_t i = 0; i < 3 * (n + 8); ++i) a[i] = kPoison;
    for (std::size_t i = 0; i < n; ++i) b[i] = pattern(i);
    for (std::size_t i = 0; i < n; ++i) c[i] = pattern(i + n);
  }
  bool past_the_end_untouched() const {
    for (std::size_t i = n; i < n + 8; ++i)
      if (a[i] != kPoison) return false;
    return true;
  }

  struct alignas(64) Line {
    double value[8];
  };
  std::size_t n;
  std::unique_ptr<Line[]> storage;
  double* a;
  double* b;
  double* c;
};

}  // namespace

TEST_CASE("every set of stream kernels computes exactly and stays inside its arrays") {
  const bool plain = GENERATE(false, true);
  for (const StreamKernels* kernels : available_stream_kernels()) {
    INFO(kernels->instructions);
    for (std::size_t n : {8u, 16u, 24u, 64u, 72u, 520u, 4096u, 65536u + 4096u + 40u}) {
      Arrays arrays(n);
      CHECK(kernels->read(arrays.b, n) == static_cast<double>(pattern_sum(0, n)));
      (plain ? kernels->write : kernels->write_nontemporal)(arrays.a, 5.0, n);
      CHECK(constant_error(arrays.a, 5.0, n) == 0.0);
      (plain ? kernels->copy : kernels->copy_nontemporal)(arrays.a, arrays.b, n);
      CHECK(copy_error(arrays.a, 0, n) == 0.0);
      (plain ? kernels->triad : kernels->triad_nontemporal)(arrays.a, arrays.b, arrays.c, 3.0, n);
      CHECK(triad_error(arrays.a, 0, n, 3.0, n) == 0.0);
      CHECK(arrays.past_the_end_untouched());
      kernels->fill(arrays.a, 123, n);
      CHECK(copy_error(arrays.a, 123, n) == 0.0);
      CHECK(arrays.past_the_end_untouched());
    }
  }
}

TEST_CASE("the best kernels come first and plain C++ is always there") {
  const auto all = available_stream_kernels();
  REQUIRE_FALSE(all.empty());
  CHECK(&stream_kernels() == all.front());
  CHECK(std::string(all.back()->instructions) == "C++");
  CHECK_FALSE(all.back()->nontemporal);
}

TEST_CASE("one flipped bit, a moved value and a NaN are errors of a pattern") {
  Arrays arrays(1024);
  double* b = arrays.b;
  REQUIRE(copy_error(b, 0, 1024) == 0.0);

  SECTION("the lowest bit of one value") {
    b[777] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(b[777]) ^ 1u);
    CHECK(copy_error(b, 0, 1024) > 0.0);
  }
  SECTION("two values exchanged") {
    std::swap(b[100], b[101]);
    CHECK(copy_error(b, 0, 1024) > 0.0);
  }
  SECTION("NaN") {
    b[1023] = std::nan("");
    CHECK_FALSE(copy_error(b, 0, 1024) <= 0.0);
  }
}

}  // namespace bench
