#include "results/fleet/similarity.h"

#include <algorithm>
#include <cstddef>

namespace bench {
namespace {

/// The counted part of F_a - F_b: a is worse where more of its values lie below (above if lower is
/// better).
double counted(double difference, CountedArea side, Better better) {
  if (side == CountedArea::both) return difference < 0.0 ? -difference : difference;
  return std::max(0.0, better == Better::lower ? -difference : difference);
}

}  // namespace

double similarity(std::span<const double> a, std::span<const double> b, CountedArea side,
                  Better better) {
  if (a.empty() || b.empty() || !(a.front() >= 0.0) || !(b.front() >= 0.0)) return 0.0;
  std::size_t i = 0, k = 0;
  double x = 0.0, area = 0.0, whole = 0.0;
  while (i < a.size() || k < b.size()) {
    const double next = i == a.size() ? b[k] : k == b.size() ? a[i] : std::min(a[i], b[k]);
    const double below_a = static_cast<double>(i) / static_cast<double>(a.size());
    const double below_b = static_cast<double>(k) / static_cast<double>(b.size());
    area += counted(below_a - below_b, side, better) * (next - x);
    whole += (1.0 - std::min(below_a, below_b)) * (next - x);
    x = next;
    while (i < a.size() && a[i] <= x) ++i;
    while (k < b.size() && b[k] <= x) ++k;
  }
  return whole > 0.0 ? 1.0 - area / whole : 1.0;
}

}  // namespace bench
