// Many tests at once: p-values adjusted so that calling all below q a discovery makes, on average,
// at most the share q of the discoveries false.
#pragma once

#include <span>
#include <vector>

namespace bench {

/// Benjamini and Hochberg 1995: for independent or positively dependent tests. In the order given;
/// at most 1.
std::vector<double> adjusted_bh(std::span<const double> p);

/// Benjamini and Hochberg: which of the levels are rejected so that the expected share of false
/// ones is at most q; with no true one among them, that is the chance of any.
std::vector<bool> rejected(std::span<const double> levels, double q);

}  // namespace bench
