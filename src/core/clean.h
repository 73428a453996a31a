// Selects the representative samples of a series: the one rule shared by the sampler (when to
// stop), the dispatcher (ceilings) and the results (medians).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

/// How the source of a measured limit ends if no sample of it was clean.
inline constexpr std::string_view kDisturbedSource = ", without a clean sample";

/// Number of clean samples.
std::size_t count_clean(std::span<const unsigned> flags);

/// The clean values; if there are none, those flagged as crowded only; else all.
std::vector<double> representative(std::span<const double> values, std::span<const unsigned> flags);

}  // namespace bench
