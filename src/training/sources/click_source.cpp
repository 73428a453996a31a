#include "training/sources/click_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace bench::training {

int ClickShape::ids() const { return std::accumulate(lookups.begin(), lookups.end(), 0); }

bool rows_fit(std::span<const std::int64_t> rows) {
  return std::ranges::all_of(rows,
                             [](std::int64_t r) { return r >= 1 && r < std::int64_t{1} << 31; });
}

void check_fits(const ClickSample& sample, const ClickShape& shape) {
  if (sample.dense.size() != static_cast<std::size_t>(shape.dense) ||
      sample.ids.size() != static_cast<std::size_t>(shape.ids()))
    throw Error(ErrorKind::internal,
                fmt::format("a sample has {} dense features and {} IDs, expected {} and {}",
                            shape.dense, shape.ids(), sample.dense.size(), sample.ids.size()));
}

void check_index(std::uint64_t index, std::uint64_t samples) {
  if (index >= samples)
    throw Error(ErrorKind::internal,
                fmt::format("sample {} is out of range: the file has {}", index, samples));
}

}  // namespace bench::training
