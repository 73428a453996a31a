// Bars of what wholes are made of.
#include "results/plots/stacked_bars.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

namespace bench {

TEST_CASE("pieces of a bar lie side by side, and parts that nobody measured are left out") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::string svg =
      to_svg(StackedBars{"t", {"a"}, {"one", "two", "three"}, {{0.25, none, 0.5}}});
  CHECK(svg.find("x=\"10.0\" y=\"51.0\" width=\"155.0\"") != std::string::npos);
  CHECK(svg.find("x=\"165.0\" y=\"51.0\" width=\"310.0\"") != std::string::npos);
  CHECK(svg.find("two nan") == std::string::npos);
  CHECK(occurrences(svg, "%</title>") == 2);
}

TEST_CASE("a bar of more than a whole is cut off at its end") {
  const std::string svg = to_svg(StackedBars{"t", {"a"}, {"one", "two", "x"}, {{0.75, 0.75, 0.5}}});
  CHECK(svg.find("x=\"475.0\" y=\"51.0\" width=\"155.0\"") != std::string::npos);
  CHECK(occurrences(svg, "%</title>") == 2);
}

TEST_CASE("bars without rows or parts are no drawing, and names in them are text") {
  CHECK(to_svg(StackedBars{"t", {}, {"one"}, {}}).empty());
  CHECK(to_svg(StackedBars{"t", {"a"}, {}, {{}}}).empty());
  const std::string svg = to_svg(StackedBars{"<b>", {"<b>"}, {"<b>"}, {{1.0}}});
  CHECK(svg.find("<b>") == std::string::npos);
}

}  // namespace bench
