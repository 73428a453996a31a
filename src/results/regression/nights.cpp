#include "results/regression/nights.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"

namespace bench {
namespace {

constexpr std::int64_t kLongestNight = std::int64_t{12} * 3600 * 1'000'000'000;

struct Place {
  std::int64_t run, time_ns;
  std::uint32_t series, index;
};

/// All values by run. Series of one plan mostly share their runs, so runs are counted, not sorted.
std::vector<Place> by_run(std::span<const std::vector<RunValue>* const> series) {
  std::int64_t first = INT64_MAX, last = 0;
  for (const auto* values : series)
    if (!values->empty()) {
      first = std::min(first, values->front().run);
      last = std::max(last, values->back().run);
    }
  if (first > last) return {};
  std::vector<std::size_t> begin(static_cast<std::size_t>(last - first) + 2, 0);
  for (const auto* values : series)
    for (const RunValue& value : *values) ++begin[static_cast<std::size_t>(value.run - first) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Place> places(begin.back());
  for (std::size_t s = 0; s < series.size(); ++s)
    for (std::size_t i = 0; i < series[s]->size(); ++i) {
      const RunValue& value = (*series[s])[i];
      places[begin[static_cast<std::size_t>(value.run - first)]++] = {
          value.run, value.time_ns, static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(i)};
    }
  return places;
}

}  // namespace

Nights nights_of(std::span<const std::vector<RunValue>* const> series) {
  Nights nights{0, std::vector<std::vector<std::uint32_t>>(series.size())};
  for (std::size_t s = 0; s < series.size(); ++s) nights.of[s].resize(series[s]->size());
  const std::vector<Place> places = by_run(series);
  std::vector<std::size_t> last_night(series.size(), 0);  // counted from 1
  std::int64_t began = 0;
  for (std::size_t first = 0; first < places.size();) {
    std::size_t end = first;
    bool again = false;  // a series that had its value of this night
    for (; end < places.size() && places[end].run == places[first].run; ++end)
      again = again || last_night[places[end].series] == nights.count;
    if (nights.count == 0 || again || places[first].time_ns - began > kLongestNight) {
      ++nights.count;
      began = places[first].time_ns;
    }
    for (; first < end; ++first) {
      last_night[places[first].series] = nights.count;
      nights.of[places[first].series][places[first].index] =
          static_cast<std::uint32_t>(nights.count - 1);
    }
  }
  return nights;
}

std::size_t missing_tonight(const Nights& nights) {
  constexpr std::size_t kRecentNights = 7;
  return static_cast<std::size_t>(std::ranges::count_if(nights.of, [&](const auto& of) {
    const std::size_t behind = nights.count - 1 - of.back();
    return behind > 0 && behind <= kRecentNights;
  }));
}

std::vector<double> common_movement(const Nights& nights,
                                    std::span<const std::vector<double>> axis_values,
                                    std::size_t fewest) {
  if (axis_values.size() < fewest) return {};
  std::vector<std::vector<double>> distances(nights.count);
  for (std::size_t s = 0; s < axis_values.size(); ++s) {
    const double own = median(axis_values[s]);
    for (std::size_t i = 0; i < axis_values[s].size(); ++i)
      distances[nights.of[s][i]].push_back(axis_values[s][i] - own);
  }
  std::vector<double> movement;
  double last = 0.0;
  bool any = false;
  for (const auto& night : distances) {
    if (night.size() >= fewest) {
      last = median(night);
      any = true;
    }
    movement.push_back(last);
  }
  return any ? movement : std::vector<double>{};
}

}  // namespace bench
