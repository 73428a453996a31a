#include "results/reports/repeats.h"

#include <map>

namespace bench {
namespace {

constexpr std::size_t kFewRepeats = 6;

std::string key_without_repeat(const Series& series) {
  return dump(Json::array({series.metric, series.params, series.over, series.host, series.rank,
                           series.ranks, series.device}));
}

bool all_ok(const Rows& rows) {
  for (const Result* row : rows)
    if (row->series.outcome != Status::ok) return false;
  return true;
}

/// A repeat with mostly disturbed samples counts as a disturbed sample.
Samples medians(const Rows& repeats) {
  const Series& first = repeats.front()->series;
  Samples samples;
  samples.metric = first.metric;
  samples.unit = first.unit;
  samples.better = first.better;
  samples.limit = first.limit;
  for (const Result* repeat : repeats) {
    samples.values.push_back(repeat->series.median);
    samples.flags.push_back(clean_share(repeat->series) < 0.5 ? kStolen : kClean);
  }
  return samples;
}

Result fold(const Rows& repeats) {
  const Result& first = *repeats.front();
  Result folded{first.series, first.verdict};
  const Series summary = summarise(medians(repeats), PlannedJob{});
  Series& series = folded.series;
  series.n = summary.n;
  series.clean = summary.clean;
  series.median = summary.median;
  series.low = summary.low;
  series.high = summary.high;
  series.unfiltered_median = summary.unfiltered_median;
  series.of_limit = summary.of_limit;
  series.of_limit_at_clock = kNoValue;  // the repeats held clocks of their own
  series.outcome = summary.outcome;
  series.reason = summary.reason;
  series.flags.clear();
  series.repeat = 0;
  series.params["repeats"] = repeats.size();
  for (const Result* repeat : repeats)
    if (repeat->verdict)
      folded.verdict = folded.verdict ? worse(*folded.verdict, *repeat->verdict) : repeat->verdict;
  return folded;
}

}  // namespace

std::vector<Result> fold_repeats(const Rows& rows) {
  std::map<std::string, Rows> groups;
  for (const Result* row : rows) groups[key_without_repeat(row->series)].push_back(row);
  std::vector<Result> folded;
  for (const Result* row : rows) {
    const Rows& group = groups[key_without_repeat(row->series)];
    if (group.size() <= kFewRepeats || !all_ok(group))
      folded.push_back(*row);
    else if (group.front() == row)
      folded.push_back(fold(group));
  }
  return folded;
}

}  // namespace bench
