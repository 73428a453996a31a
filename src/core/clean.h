// Which samples of a series speak for it. The rule is one and here, because the sampler (when to
// stop), the dispatcher (ceilings) and the results (medians) must not differ.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// How many flag sets take nothing out of the clean samples.
std::size_t count_clean(std::span<const unsigned> flags);

/// The clean values; if there are none, those flagged only as crowded; if there are none of those,
/// all.
std::vector<double> representative(std::span<const double> values, std::span<const unsigned> flags);

}  // namespace bench
