// Figures of a run or report that bands of the field exist for, each with where it lies in them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/run/bands.h"
#include "results/run/run_summary.h"

namespace bench {

struct BandedFigure {
  std::string what;  // the case, or the setup of a training
  BandSubject subject;
  Better better = Better::higher;
  double value = kNoValue;
  Interval interval = {};  // of the value; its own if there is none
};

/// What figures of one metric, in one case, have in common with one band.
struct BandComparison {
  std::string what, metric;
  const Band* band = nullptr;
  std::size_t figures = 0;
  double lowest = kNoValue, highest = kNoValue;  // of the values
  /// Of all figures; undecided where they differ.
  BandPosition position = BandPosition::undecided;
};

/// Of the run's valid results that have clean samples, in their order.
std::vector<BandedFigure> banded_figures(const RunSummary& summary, const BandCatalogue& bands);

/// In the order of the figures, then of the bands. Borrows the bands.
std::vector<BandComparison> compare_with_bands(const std::vector<BandedFigure>& figures,
                                               const BandCatalogue& bands);

/// [{"what", "metric", "figures", "lowest", "highest", "band", "kind", "low", "high", "position",
/// "context", "source"}]
Json to_json(const std::vector<BandComparison>& comparisons);

}  // namespace bench
