// Bars of what wholes are made of.
#include <limits>

#include "results/output/document/plot.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

namespace bench {

TEST_CASE("bar pieces are adjacent, and unmeasured parts are omitted") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string svg =
      to_svg(StackedBars{"t", {"a"}, {"one", "two", "three"}, {{0.25, none, 0.5}}});
  CHECK(svg.find("x=\"10.0\" y=\"51.0\" width=\"155.0\"") != std::string::npos);
  CHECK(svg.find("x=\"165.0\" y=\"51.0\" width=\"310.0\"") != std::string::npos);
  CHECK(svg.find("two nan") == std::string::npos);
  CHECK(occurrences(svg, "%</title>") == 2);
}

TEST_CASE("a bar above 100 % is cut off") {
  const std::string svg = to_svg(StackedBars{"t", {"a"}, {"one", "two", "x"}, {{0.75, 0.75, 0.5}}});
  CHECK(svg.find("x=\"475.0\" y=\"51.0\" width=\"155.0\"") != std::string::npos);
  CHECK(occurrences(svg, "%</title>") == 2);
}

TEST_CASE("bars without rows or parts are not drawn, and names are escaped") {
  CHECK(to_svg(StackedBars{"t", {}, {"one"}, {}}).empty());
  CHECK(to_svg(StackedBars{"t", {"a"}, {}, {{}}}).empty());
  const std::string svg = to_svg(StackedBars{"<b>", {"<b>"}, {"<b>"}, {{1.0}}});
  CHECK(svg.find("<b>") == std::string::npos);
}

}  // namespace bench
