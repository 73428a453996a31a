// The highest rate of requests within bounds: rates from the lowest on until one misses them, then
// some halfway between the last two, none of them twice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace bench::serving {

struct RateSearch {
  /// Whether the bounds were kept at a rate; nothing if that is unknown.
  std::function<std::optional<bool>(double rate)> measure;
  /// A rate that need not be measured, because a lower one missed the bounds.
  std::function<void(double rate, double missed)> skip;
};

struct RateFound {
  std::optional<double> holds = {}, misses = {};
  bool highest_held = false;  // of the rates: a higher one may hold too
};

RateFound search_rates(std::vector<double> rates, std::int64_t refinements,
                       const RateSearch& search);

}  // namespace bench::serving
