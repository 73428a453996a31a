#include "results/output/document/plot.h"

#include <cmath>
#include <limits>
#include <regex>

#include "core/error.h"
#include "results/output/document/svg.h"
#include "tests/support/catch.h"
#include "tests/support/occurrences.h"

namespace bench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("an axis marks round values within its range") {
  const Axis axis = make_axis({98.0, 103.0}, false, 0.0, 500.0);
  CHECK(axis.low == Approx(97.8));
  CHECK(axis.high == Approx(103.2));
  CHECK(axis.ticks() == std::vector<double>{98.0, 99.0, 100.0, 101.0, 102.0, 103.0});
  CHECK(axis.at(axis.low) == Approx(0.0));
  CHECK(axis.at(100.5) == Approx(250.0));
  CHECK(axis.at(1e9) == Approx(500.0));  // put on the edge
}

TEST_CASE("an axis reaches down to zero where values differ by more than a factor of two") {
  CHECK(make_axis({10.0, 100.0}, false, 0.0, 1.0).low == 0.0);
  CHECK(make_axis({90.0, 100.0}, false, 0.0, 1.0).low > 80.0);
}

TEST_CASE("a logarithmic axis shows only positive values") {
  const Axis axis = make_axis({0.0, -5.0, kNan, 1.0, 1000.0}, true, 0.0, 300.0);
  CHECK(axis.low > 0.0);
  CHECK_FALSE(axis.shows(0.0));
  CHECK_FALSE(axis.shows(-5.0));
  CHECK(axis.at(std::sqrt(1000.0)) == Approx(150.0));
  CHECK(axis.ticks() == std::vector<double>{1.0, 10.0, 100.0, 1000.0});
}

TEST_CASE("an axis of one value, of none and of the largest numbers stays finite") {
  for (const bool log : {false, true}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {7.0}, {kNan, kInf}, {-1e308, 1e308}, {1e-300, 1e300}, {5e-324}}) {
      const Axis axis = make_axis(values, log, 0.0, 100.0);
      CHECK(axis.high > axis.low);
      CHECK(std::isfinite(axis.at(log ? 3.0 : 0.5)));
      CHECK(axis.ticks().size() <= 40);
    }
  }
}

TEST_CASE("ticks are short numbers with prefixes") {
  CHECK(tick_label(0.0) == "0");
  CHECK(tick_label(250.0) == "250");
  CHECK(tick_label(0.05) == "0.05");
  CHECK(tick_label(1.25e12) == "1.25T");
  CHECK(tick_label(-3e6) == "-3M");
  CHECK(tick_label(1e-6) == "1\u00b5");
  CHECK(tick_label(1e-15) == "1e-15");
}

TEST_CASE("a plot draws lines with gaps, bands, points with bars, rules and a legend") {
  Plot plot{"Copy", "ranks", "rate", true, false, {}, {{"limit", 12.0}, {"driver", 4.0, true}}};
  plot.series.push_back({"lines",
                         {1, 2, 3, 4, 5},
                         {1, 2, kNan, 4, 5},
                         {0.9, 1.9, kNan, 3, 4},
                         {1.1, 2.1, kNan, 5, 6}});
  plot.series.push_back({"points", {1, 2, 4}, {3, 4, 5}, {2, 3, 4}, {4, 5, 6}, Mark::points});
  const std::string svg = to_svg(plot);
  CHECK(occurrences(svg, "<polyline") == 2);  // before and after the gap
  CHECK(occurrences(svg, "<polygon") == 2);
  CHECK(occurrences(svg, "<circle") == 3);
  CHECK(occurrences(svg, "class=\"rule\"") == 2);
  CHECK(occurrences(svg, ">limit</text>") == 1);
  CHECK(occurrences(svg, ">points</text>") == 1);
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("a line in steps keeps its level until the next point") {
  Plot plot{"t", "x", "y", false, false, {{"", {0, 10}, {1, 2}, {}, {}, Mark::steps}}};
  const std::string svg = to_svg(plot);
  std::smatch points;
  REQUIRE(std::regex_search(svg, points, std::regex("polyline points=\"([^\"]*)\"")));
  CHECK(occurrences(points[1], ",") == 3);
}

TEST_CASE("names in plots are escaped") {
  const std::string bad = "</svg><script>alert(1)</script>\x1b[2J\"&";
  Plot plot{bad,         bad, bad, false, false, {{bad, {1, 2}, {1, 2}, {}, {}, Mark::line_points}},
            {{bad, 1.5}}};
  HeatMap map{bad, {bad}, {bad}, {{1.0}}, 0.0, 1.0};
  for (const std::string& svg : {to_svg(plot), to_svg(map)}) {
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find('\x1b') == std::string::npos);
    CHECK(occurrences(svg, "</svg>") == 1);
  }
}

TEST_CASE("a line of a million points is reduced but keeps its extremes") {
  PlotSeries series{"noise", {}, {}};
  for (int i = 0; i < 1'000'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 700'001 ? 50.0 : i == 300'001 ? -50.0 : std::sin(i));
  }
  const std::string svg = to_svg(Plot{"t", "x", "y", false, false, {series}});
  CHECK(svg.size() < 100'000);
  const Axis y = make_axis(series.y, false, 330.0, 30.0);
  char high[32], low[32];
  std::snprintf(high, sizeof high, ",%.1f ", y.at(50.0));
  std::snprintf(low, sizeof low, ",%.1f ", y.at(-50.0));
  CHECK(svg.find(high) != std::string::npos);
  CHECK(svg.find(low) != std::string::npos);
}

TEST_CASE("x and y of unequal length are refused") {
  CHECK_THROWS_AS(to_svg(Plot{"t", "x", "y", false, false, {{"s", {1, 2}, {1}}}}), Error);
}

TEST_CASE("a plot without values is still drawn") {
  CHECK(occurrences(to_svg(Plot{"t", "x", "y"}), "</svg>") == 1);
  CHECK(occurrences(to_svg(HeatMap{}), "</svg>") == 1);
}

TEST_CASE("a heat map colours by distance from the middle") {
  const HeatMap map{"t", {"a"}, {"m1", "m2", "m3", "m4"}, {{-0.05, 0.0, 0.9, kNan}}, 0.0, 0.05};
  const std::string svg = to_svg(map);
  CHECK(occurrences(svg, "#8c3b00\" d=") == 1);
  CHECK(occurrences(svg, "#f2f2f2\" d=") == 1);
  CHECK(occurrences(svg, "#0f5a94\" d=") == 1);
  CHECK(occurrences(svg, "h22v15h-22z") == 3);  // none for the missing one
  CHECK(occurrences(svg, "a, m4: no value") == 1);
}

TEST_CASE("the heat map of a thousand hosts and twenty metrics stays below half a megabyte") {
  HeatMap map{"t", {}, std::vector<std::string>(20, "memory_bandwidth.bandwidth"), {}, 0.0, 0.05};
  for (int i = 0; i < 1000; ++i) {
    map.rows.push_back("gpu-node-" + std::to_string(i));
    map.values.emplace_back(20, 0.001 * (i % 100) - 0.05);
  }
  CHECK(to_svg(map).size() < 500'000);
}

TEST_CASE("a name is cut between its characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("a\u00fcb", 2) == "a\u2026");
}

}  // namespace bench
