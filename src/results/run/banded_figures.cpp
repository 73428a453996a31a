#include "results/run/banded_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/fields.h"
#include "core/json_fields.h"

namespace bench {
namespace {

/// That a rank alone waits for no communication is no achievement.
bool says_something(const Series& series) {
  return series.ranks > 1 || !series.metric.ends_with(".exposed_communication");
}

void add(BandComparison& comparison, const BandedFigure& figure) {
  const BandPosition position = position_in(*comparison.band, figure.interval, figure.better);
  const bool same = comparison.figures == 0 || comparison.position == position;
  comparison.position = same ? position : BandPosition::undecided;
  comparison.lowest = std::fmin(comparison.lowest, figure.value);
  comparison.highest = std::fmax(comparison.highest, figure.value);
  ++comparison.figures;
}

}  // namespace

std::vector<BandedFigure> banded_figures(const RunSummary& summary, const BandCatalogue& bands) {
  std::set<std::string> banded;
  for (const Band& band : bands.all()) banded.insert(band.metrics.begin(), band.metrics.end());
  const PlannedJobs jobs = jobs_by_id(summary);
  std::vector<BandedFigure> figures;
  for (const Result& result : summary.results) {
    const Series& series = result.series;
    const bool usable =
        series.outcome == Status::ok && series.clean > 0 && std::isfinite(series.median);
    if (!usable || !banded.contains(series.metric) || !says_something(series)) continue;
    const auto job = jobs.find(series.job);
    const std::string workload =
        job == jobs.end() ? "" : text_field(job->second->params, "workload");
    figures.push_back({series.case_name,
                       {series.metric, series.device, workload, series.params},
                       series.better,
                       series.median,
                       interval_of(series)});
  }
  return figures;
}

std::vector<BandComparison> compare_with_bands(const std::vector<BandedFigure>& figures,
                                               const BandCatalogue& bands) {
  std::vector<BandComparison> comparisons;
  std::map<std::pair<std::string, std::string>, std::size_t> place;  // by case and metric, band
  for (const BandedFigure& figure : figures)
    for (const Band* band : bands.of(figure.subject)) {
      const auto [at, is_new] = place.try_emplace(
          {figure.what + "\n" + figure.subject.metric, band->id}, comparisons.size());
      if (is_new) comparisons.push_back({figure.what, figure.subject.metric, band});
      add(comparisons[at->second], figure);
    }
  return comparisons;
}

Json to_json(const std::vector<BandComparison>& comparisons) {
  Json list = Json::array();
  for (const BandComparison& one : comparisons)
    list.push_back({{"what", one.what},
                    {"metric", one.metric},
                    {"figures", one.figures},
                    {"lowest", number_or_null(one.lowest)},
                    {"highest", number_or_null(one.highest)},
                    {"band", one.band->id},
                    {"kind", to_string(one.band->kind)},
                    {"low", number_or_null(one.band->low)},
                    {"high", number_or_null(one.band->high)},
                    {"position", to_string(one.position)},
                    {"context", one.band->context},
                    {"source", one.band->source}});
  return list;
}

}  // namespace bench
