// Which samples of a series speak for it. The rule is one and here, because the sampler (when to
// stop), the dispatcher (ceilings) and the results (medians) must not differ.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// How many flag sets take nothing out of the clean samples.
std::size_t count_clean(std::span<const unsigned> flags);

/// The clean values; where there is none, those whose only fault is a crowded machine; where there
/// is none of those either, all. A value without flags is not known to be clean.
std::vector<double> representative(std::span<const double> values, std::span<const unsigned> flags);

}  // namespace bench
