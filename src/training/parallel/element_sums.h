// Sums of rows over ranks by the control plane, for checks of what the gradient exchange does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "devices/group.h"

namespace bench::training {

/// use(i, the sum over ranks of value(i)), in f64, for each of so many elements; in pieces, so that
/// it takes a few MB. Call on every rank.
template <class Value, class Use>
void sum_elements(Group& group, std::int64_t elements, const Value& value, const Use& use) {
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 20;
  std::vector<double> piece;
  for (std::int64_t first = 0; first < elements; first += std::ssize(piece)) {
    piece.resize(static_cast<std::size_t>(std::min(kAtOnce, elements - first)));
    for (std::size_t i = 0; i < piece.size(); ++i)
      piece[i] = value(first + static_cast<std::int64_t>(i));
    group.sum(piece);
    for (std::size_t i = 0; i < piece.size(); ++i)
      use(first + static_cast<std::int64_t>(i), piece[i]);
  }
}

}  // namespace bench::training
