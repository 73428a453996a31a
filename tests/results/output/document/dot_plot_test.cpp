#include "results/output/document/dot_plot.h"

#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

namespace bench {

TEST_CASE("a plot of dots names those that are marked, and shades what is tolerated") {
  const std::string svg = to_svg(DotPlot{
      "hosts", "%", {{"gemm <1>", {{"n1", 0.5}, {"n2", -0.2}, {"n<3>", -9.0, true}}, -3.0, 3.0}}});
  CHECK(occurrences(svg, "<circle") == 3);
  CHECK(occurrences(svg, "class=\"band\"") == 1);
  CHECK(occurrences(svg, ">n&lt;3&gt;</text>") == 1);
  CHECK(occurrences(svg, ">n1</text>") == 0);
  CHECK(occurrences(svg, "<title>n1: 0.5</title>") == 1);
  CHECK(occurrences(svg, "gemm &lt;1&gt;") == 2);
}

TEST_CASE("dots without a value are not drawn, and a plot without dots is none") {
  CHECK(to_svg(DotPlot{"t", "%", {{"a", {{"n1", kNoValue}}}}}).empty());
  CHECK(to_svg(DotPlot{"t", "%", {}}).empty());
  CHECK(occurrences(to_svg(DotPlot{"t", "%", {{"a", {{"n1", kNoValue}, {"n2", 1.0}}}}}),
                    "<circle") == 1);
}

TEST_CASE("an interval of a dot is a line") {
  const auto lines = [](Dot dot) {
    return occurrences(to_svg(DotPlot{"t", "%", {{"a", {std::move(dot)}}}}),
                       "stroke-width=\"1.6\"");
  };
  CHECK(lines({"n1", 1.0}) == 0);
  CHECK(lines({"n1", 1.0, false, 0.5, 1.5}) == 1);
}

TEST_CASE("many dots at one place fill the row only; marked ones are always drawn") {
  DotRow row{"a", {}};
  for (int i = 0; i < 5000; ++i) row.dots.push_back({"n", 1.0});
  row.dots.push_back({"bad", 1.0, true});
  const std::string svg = to_svg(DotPlot{"t", "%", {row}});
  CHECK(occurrences(svg, "<circle") < 20);
  CHECK(occurrences(svg, ">bad</text>") == 1);
}

}  // namespace bench
