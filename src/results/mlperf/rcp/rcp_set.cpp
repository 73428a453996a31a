#include "results/mlperf/rcp/rcp_set.h"

#include <algorithm>

#include "core/names.h"

namespace bench::mlperf {
namespace {

constexpr NameTable<RcpMatch, 5> kMatches{{{{RcpMatch::exact, "exact"},
                                            {RcpMatch::interpolated, "interpolated"},
                                            {RcpMatch::below, "below"},
                                            {RcpMatch::missing, "missing"},
                                            {RcpMatch::none, "none"}}}};

using Points = std::vector<const RcpPoint*>;

double on_line(double x, double x0, double y0, double x1, double y1) {
  return x == x1 ? y1 : (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

double mean_between(double batch, const RcpPoint& low, const RcpPoint& high) {
  return on_line(batch, low.batch, low.mean, high.batch, high.mean);
}

/// The fastest point and all with at least its batch.
Points from_fastest(const RcpSet& set) {
  const auto fastest = std::ranges::min_element(set.points, {}, &RcpPoint::mean);
  Points walk;
  for (const RcpPoint& point : set.points)
    if (point.batch >= fastest->batch) walk.push_back(&point);
  return walk;
}

void drop_slower_than_neighbours(Points& walk) {
  for (std::size_t i = 1; i + 1 < walk.size();) {
    if (walk[i]->mean > mean_between(walk[i]->batch, *walk[i - 1], *walk[i + 1]))
      walk.erase(walk.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

RcpPoint interpolated(const RcpSet& set, double batch, const RcpPoint& low, const RcpPoint& high) {
  RcpPoint point{.name = low.name + " to " + high.name, .batch = batch};
  point.mean = mean_between(batch, low, high);
  point.stdev = on_line(batch, low.batch, low.stdev, high.batch, high.stdev);
  set_minimum(point, set.runs, 2.0 * static_cast<double>(set.runs));
  return point;
}

}  // namespace

std::string_view to_string(RcpMatch match) { return kMatches.name(match); }

void prune(RcpSet& set) {
  if (set.points.empty()) return;
  Points walk = from_fastest(set);
  drop_slower_than_neighbours(walk);
  std::vector<double> batches;
  for (const RcpPoint* point : walk) batches.push_back(point->batch);
  // By batch: points with the same batch are kept or pruned together.
  for (RcpPoint& point : set.points)
    point.kept = std::ranges::find(batches, point.batch) != batches.end();
}

RcpReference reference_at(const RcpSet& set, double batch) {
  const RcpPoint *low = nullptr, *high = nullptr;
  for (const RcpPoint& point : set.points) {
    if (!point.kept) continue;
    if (point.batch == batch) return {RcpMatch::exact, point};
    if (point.batch < batch) low = &point;
    if (point.batch > batch && high == nullptr) high = &point;
  }
  if (low != nullptr && high != nullptr)
    return {RcpMatch::interpolated, interpolated(set, batch, *low, *high)};
  if (high != nullptr) return {RcpMatch::below, *high};
  return {low != nullptr ? RcpMatch::missing : RcpMatch::none, {}};
}

}  // namespace bench::mlperf
