#include "results/training/measured_peak.h"

#include <fmt/format.h>

namespace bench {
namespace {

bool fits(const SeriesRow& row, const TrainingSetup& setup, std::int64_t threads) {
  if (row.device != setup.device || text_field(row.params, "dtype") != setup.dtype) return false;
  return setup.device != "host" || integer_field(row.params, "threads", -1) == threads;
}

}  // namespace

MeasuredPeak measured_peak(const TrainingSetup& setup, const SeriesFinder& series) {
  const bool host = setup.device == "host";
  if (setup.on.empty() || (host && setup.lanes <= 0))
    return {kNoValue, "number and placement of training threads unknown"};
  const auto ranks = setup.ranks / static_cast<std::int64_t>(setup.on.size());
  const std::int64_t threads = ranks * setup.lanes;
  MeasuredPeak peak{0.0, {}};
  for (const std::string& name : setup.on) {
    const SeriesRow* best = nullptr;
    const auto rows = series("gemm.throughput", name);
    for (const SeriesRow& row : rows)
      if (fits(row, setup, threads) && (best == nullptr || row.median > best->median)) best = &row;
    if (best == nullptr)
      return {kNoValue, fmt::format("no gemm.throughput of {} in {} on {} in the database; run `benchctl run gemm`",
                                    host ? fmt::format("{} threads", threads) : setup.device,
                                    setup.dtype, name)};
    peak.flops += best->median * static_cast<double>(host ? 1 : ranks);
    if (peak.source.empty()) peak.source = "gemm in run " + best->run;
  }
  return peak;
}

}  // namespace bench
