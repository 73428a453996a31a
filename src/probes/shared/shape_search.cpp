#include "probes/shared/shape_search.h"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kFinalsShare = 0.2;   // of the budget is kept for timing the best once more
constexpr double kTrialShare = 0.1;    // of the budget is the most one trial may take
constexpr std::size_t kFinalists = 3;  // timed once more
constexpr std::size_t kExpanded = 4;   // of the best, whose neighbours are tried
constexpr std::int64_t kGrain = 128;   // libraries' tiles are 64 to 256 wide

bool same(const GemmShape& a, const GemmShape& b) { return a.m == b.m && a.n == b.n && a.k == b.k; }

bool contains(const std::vector<GemmShape>& shapes, const GemmShape& shape) {
  return std::ranges::any_of(shapes, [&](const GemmShape& one) { return same(one, shape); });
}

std::vector<GemmShape> cubes() {
  std::vector<GemmShape> shapes;
  for (const std::int64_t size : {256, 512, 1024, 2048, 4096, 6144, 8192, 12288, 16384})
    shapes.push_back({size, size, size});
  return shapes;
}

std::vector<GemmShape> wave_shapes(int multiprocessors) {
  struct Tile {
    std::int64_t rows, columns;
  };
  std::vector<GemmShape> shapes;
  for (const Tile tile : {Tile{128, 128}, Tile{128, 256}, Tile{256, 128}, Tile{256, 256}})
    for (const int waves : {1, 2, 4, 8, 16})
      for (const std::int64_t k : {2048, 8192})
        shapes.push_back(whole_waves(multiprocessors, waves, tile.rows, tile.columns, k));
  return shapes;
}

std::int64_t rounded(double size) {
  return std::max<std::int64_t>(kGrain, std::llround(size / kGrain) * kGrain);
}

}  // namespace

GemmShape whole_waves(int multiprocessors, int waves, std::int64_t tile_rows,
                      std::int64_t tile_columns, std::int64_t k) {
  const std::int64_t tiles = std::int64_t{multiprocessors} * waves;
  GemmShape best;
  double best_skew = 0.0;
  for (std::int64_t down = 1; down <= tiles; ++down) {
    if (tiles % down != 0) continue;
    const GemmShape shape{down * tile_rows, tiles / down * tile_columns, k};
    const double skew =
        std::abs(std::log(static_cast<double>(shape.m) / static_cast<double>(shape.n)));
    if (best.m != 0 && skew >= best_skew) continue;
    best = shape;
    best_skew = skew;
  }
  return best;
}

ShapeSearch::ShapeSearch(const ShapeBounds& bounds, Seconds budget)
    : bounds_(bounds), budget_(budget) {
  for (const GemmShape& shape : cubes()) offer(shape);
  if (bounds.multiprocessors > 0)
    for (const GemmShape& shape : wave_shapes(bounds.multiprocessors)) offer(shape);
  std::ranges::stable_sort(waiting_, {}, &GemmShape::operations);
}

void ShapeSearch::offer(const GemmShape& shape) {
  const auto count = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const double bytes = bounds_.element_bytes * (count(shape.m, shape.k) + count(shape.k, shape.n)) +
                       bounds_.output_bytes * count(shape.m, shape.n);
  const bool fits = std::max({shape.m, shape.n, shape.k}) <= bounds_.largest;
  if (!fits || bytes > bounds_.most_bytes || contains(offered_, shape)) return;
  offered_.push_back(shape);
  waiting_.push_back(shape);
}

void ShapeSearch::add_neighbours(const GemmShape& s) {
  expanded_.push_back(s);
  for (const double factor : {0.5, 0.75, 1.5, 2.0}) {
    const auto scaled = [&](std::int64_t size) {
      return rounded(factor * static_cast<double>(size));
    };
    offer({scaled(s.m), s.n, s.k});
    offer({s.m, scaled(s.n), s.k});
    offer({s.m, s.n, scaled(s.k)});
  }
}

double ShapeSearch::best_rate() const {
  double best = 0.0;
  for (const ShapeTrial& trial : trials_) best = std::max(best, trial.rate());
  return best;
}

/// Every shape until a rate is known; small shapes come first.
bool ShapeSearch::worth_trying(const GemmShape& shape) const {
  const double rate = best_rate();
  return rate <= 0.0 ||
         shape.operations() / rate * bounds_.most_calls <= kTrialShare * budget_.value;
}

std::vector<ShapeTrial> ShapeSearch::ranking() const {
  std::vector<ShapeTrial> ranked;
  for (const ShapeTrial& trial : trials_)
    if (trial.seconds && !trial.again) ranked.push_back(trial);
  std::ranges::stable_sort(ranked, std::ranges::greater(), &ShapeTrial::rate);
  return ranked;
}

std::optional<GemmShape> ShapeSearch::unexplored() {
  for (;;) {
    while (!waiting_.empty()) {
      const GemmShape shape = waiting_.front();
      waiting_.erase(waiting_.begin());
      if (worth_trying(shape)) return shape;
    }
    const std::vector<ShapeTrial> ranked = ranking();
    const auto end =
        ranked.begin() + static_cast<std::ptrdiff_t>(std::min(kExpanded, ranked.size()));
    const auto fresh = std::find_if(ranked.begin(), end, [&](const ShapeTrial& trial) {
      return !contains(expanded_, trial.shape);
    });
    if (fresh == end) return {};
    add_neighbours(fresh->shape);
  }
}

std::optional<GemmShape> ShapeSearch::next(Seconds elapsed) {
  asked_.reset();
  if (!finals_) {
    if (elapsed.value < (1.0 - kFinalsShare) * budget_.value) asked_ = unexplored();
    if (asked_) return asked_;
    finals_ = true;
    for (const ShapeTrial& trial : ranking())
      if (finalists_.size() < kFinalists) finalists_.push_back(trial.shape);
  }
  if (elapsed.value >= budget_.value || finalists_.empty()) return {};
  asked_ = finalists_.front();
  finalists_.erase(finalists_.begin());
  return asked_;
}

void ShapeSearch::record(std::optional<Seconds> seconds) {
  if (seconds && !(seconds->value > 0.0)) seconds.reset();
  if (asked_) trials_.push_back({*asked_, seconds, finals_});
  asked_.reset();
}

std::optional<GemmShape> ShapeSearch::winner() const {
  const ShapeTrial* best = nullptr;
  for (const ShapeTrial& trial : trials_) {
    if (!trial.seconds) continue;
    const bool better = best == nullptr || (trial.again && !best->again) ||
                        (trial.again == best->again && trial.rate() > best->rate());
    if (better) best = &trial;
  }
  return best == nullptr ? std::nullopt : std::optional(best->shape);
}

}  // namespace bench
