#include "core/parallel.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace bench {
namespace {

using Part = std::pair<std::size_t, std::size_t>;

std::vector<Part> parts_of(std::size_t count, std::size_t least, int threads) {
  std::vector<Part> parts;
  std::mutex mutex;
  in_parts(
      count, least,
      [&](std::size_t first, std::size_t last) {
        const std::lock_guard lock(mutex);
        parts.emplace_back(first, last);
      },
      threads);
  std::ranges::sort(parts);
  return parts;
}

TEST_CASE("parts follow each other and cover everything, none smaller than asked") {
  CHECK(parts_of(10, 1, 3) == std::vector<Part>{{0, 3}, {3, 6}, {6, 10}});
  CHECK(parts_of(10, 4, 8) == std::vector<Part>{{0, 5}, {5, 10}});
  CHECK(parts_of(3, 4, 8) == std::vector<Part>{{0, 3}});
  CHECK(parts_of(0, 4, 8) == std::vector<Part>{{0, 0}});
  CHECK(parts_of(5, 0, 0) == std::vector<Part>{{0, 5}});
  CHECK(parts_of(1000, 1, 16).size() == 16);
}

TEST_CASE("every part is worked on although one fails, whose error is thrown") {
  std::vector<int> seen(8);
  const auto work = [&](std::size_t first, std::size_t) {
    seen[first] = 1;
    if (first == 3 || first == 5) throw std::runtime_error(std::to_string(first));
  };
  CHECK_THROWS_WITH(in_parts(8, 1, work, 8), "3");
  CHECK(seen == std::vector<int>(8, 1));
}

TEST_CASE("this thread may run on a processor") { CHECK(allowed_processors() >= 1); }

}  // namespace
}  // namespace bench
