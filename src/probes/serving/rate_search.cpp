#include "probes/serving/rate_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace bench::serving {

RateFound search_rates(std::vector<double> rates, std::int64_t refinements,
                       const RateSearch& search) {
  std::ranges::sort(rates);
  RateFound found;
  std::set<double> tried;
  const auto look = [&](double rate) {
    tried.insert(rate);
    if (const auto held = search.measure(rate)) (*held ? found.holds : found.misses) = rate;
  };
  for (const double rate : rates) {
    if (found.misses)
      search.skip(rate, *found.misses);
    else
      look(rate);
  }
  for (std::int64_t i = 0; i < refinements && found.holds && found.misses; ++i) {
    // Three digits, so that a report can name it.
    const double middle = std::stod(fmt::format("{:.3g}", (*found.holds + *found.misses) / 2.0));
    if (!(*found.holds < middle && middle < *found.misses) || tried.contains(middle)) break;
    look(middle);
  }
  found.highest_held = !rates.empty() && found.holds == rates.back();
  return found;
}

}  // namespace bench::serving
