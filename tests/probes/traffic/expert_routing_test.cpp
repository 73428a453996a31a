#include "probes/traffic/expert_routing.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

std::int64_t sum_of(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::string refused(const char* text) {
  try {
    ExpertRouting::recorded(text, 4, "routing.json");
  } catch (const Error& error) {
    return error.text();
  }
  return "not refused";
}

}  // namespace

TEST_CASE("routing sends every choice to an expert, and no token twice to the same") {
  for (const double skew : {0.0, 0.7, 3.0, 10.0}) {
    const ExpertRouting routing = ExpertRouting::drawn(8, skew, 1);
    for (std::int64_t layer = 0; layer < 4; ++layer) {
      const auto counts = routing.counts(layer, 1, 2, 100, 300);
      CHECK(sum_of(counts) == 300);
      CHECK(*std::ranges::max_element(counts) <= 100);
      CHECK(counts == routing.counts(layer, 1, 2, 100, 300));
    }
  }
  CHECK(ExpertRouting::drawn(8, 0.0, 1).counts(0, 0, 0, 100, 800) ==
        std::vector<std::int64_t>(8, 100));
}

TEST_CASE("a larger skew routes more tokens to popular experts, others in each layer") {
  const auto worst = [](double skew) {
    return imbalance(ExpertRouting::drawn(16, skew, 1).counts(0, 0, 0, 10'000, 20'000));
  };
  CHECK(worst(0.0) == Approx(1.0));
  CHECK(worst(0.5) > 1.5);
  CHECK(worst(1.0) > worst(0.5));
  const ExpertRouting routing = ExpertRouting::drawn(16, 1.0, 1);
  CHECK(routing.counts(0, 0, 0, 1000, 1000) != routing.counts(1, 0, 0, 1000, 1000));
  CHECK(routing.counts(0, 0, 0, 1000, 1000) != routing.counts(0, 0, 1, 1000, 1000));
}

TEST_CASE("recorded routing is kept in proportion") {
  const auto routing =
      ExpertRouting::recorded(R"({"experts": 4, "counts": [[10, 0, 3, 3]]})", 4, "routing.json");
  CHECK(routing.counts(0, 0, 0, 16, 16) == std::vector<std::int64_t>{10, 0, 3, 3});
  CHECK(routing.counts(0, 0, 0, 160, 160) == std::vector<std::int64_t>{100, 0, 30, 30});
}

TEST_CASE("each sender has the row of its number") {
  const auto routing = ExpertRouting::recorded(
      R"({"experts": 4, "counts": [[4, 0, 0, 0], [0, 4, 0, 0]]})", 4, "routing.json");
  for (const std::int64_t layer : {0, 3})
    for (const std::int64_t sender : {0, 2})
      CHECK(routing.counts(layer, 1, sender, 4, 4) == std::vector<std::int64_t>{4, 0, 0, 0});
  CHECK(routing.counts(0, 0, 1, 4, 4) == std::vector<std::int64_t>{0, 4, 0, 0});
}

TEST_CASE("recorded routing that cannot be is refused with its place") {
  CHECK_THAT(refused("[]"), Contains("routing.json: not an object"));
  CHECK_THAT(refused(R"({"experts": 8, "counts": [[1]]})"), Contains("experts is not 4"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": []})"), Contains("counts has no rows"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": [[1, 2, 3]]})"),
             Contains("counts[0] is not a list of 4 counts"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": [[1, 2, 3, -4]]})"), Contains("counts[0][3]"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": [[1, 2, 3, 1e300]]})"), Contains("counts[0][3]"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": [[0, 0, 0, 0]]})"), Contains("routes no token"));
  CHECK_THAT(refused(R"({"experts": 4, "counts": )"), Contains("routing.json"));
}

}  // namespace bench
