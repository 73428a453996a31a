#include "results/run/derived_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/json_fields.h"
#include "core/order_statistics.h"
#include "results/run/training_breakdown.h"

namespace bench {
namespace {

bool is_training(const std::string& probe) { return probe == "training" || probe == "external"; }

Series derive(const Series& from, const char* metric, double value, Better better) {
  Series series;
  series.job = from.job;
  series.case_name = from.case_name;
  series.probe = from.probe;
  series.metric = from.probe + "." + metric;
  series.params = from.params;
  series.over = "mean";
  series.host = from.host;
  series.rank = from.rank;
  series.device = from.device;
  series.ranks = from.ranks;
  series.repeat = from.repeat;
  series.time_ns = from.time_ns;
  series.unit = Unit::ratio;
  series.better = better;
  series.n = 1;
  series.clean = from.clean > 0 ? 1 : 0;
  for (double* statistic : {&series.min, &series.p5, &series.median, &series.mean, &series.max,
                            &series.unfiltered_median})
    *statistic = value;
  series.stop = "fixed";
  series.quality = from.quality;
  series.derived = true;
  return series;
}

/// The series whose conditions hold for the whole training; null without one.
const Series* conditions_of(const std::vector<Series>& all) {
  for (const char* metric : {"step_time", "items_per_second"})
    for (const Series& series : all)
      if (series.metric == series.probe + "." + metric && series.outcome == Status::ok &&
          series.n > 0)
        return &series;
  return nullptr;
}

}  // namespace

std::vector<Series> derived_of_job(const JobResult& job, const std::vector<Series>& series,
                                   const TrainingTimes& times) {
  const Series* from = conditions_of(series);
  if (!is_training(job.job.probe) || job.outcome != Status::ok || from == nullptr) return {};
  static const Json none = Json::object();
  const TimeShares shares = time_shares(TrainingBreakdown(times.breakdown), job.job.ranks,
                                        times.facts == nullptr ? none : *times.facts);
  std::vector<Series> derived;
  const auto add = [&](const char* metric, double value, Better better) {
    if (std::isfinite(value)) derived.push_back(derive(*from, metric, value, better));
  };
  add("data_stall", shares.data_stall, Better::lower);
  add("exposed_communication", shares.exposed_communication, Better::lower);
  add("overlap_ratio", shares.overlap_ratio, Better::higher);
  add("goodput", shares.goodput, Better::higher);
  return derived;
}

namespace {

bool is_throughput(const Series& series) {
  return is_training(series.probe) && series.metric == series.probe + ".items_per_second" &&
         series.outcome == Status::ok && series.median > 0.0;
}

/// Equal for trainings that differ in ranks alone. Of jobs on single hosts each host has its own
/// fewest ranks; jobs on several hosts (scopes all and ladder) have one series on rank 0's.
std::string key_without_ranks(const Series& series, const std::string& place) {
  Json params = series.params;
  params.erase("ranks_per_host");
  return dump(Json::array({series.case_name, series.device, place, params}));
}

/// Throughput of a rank, with the ends of its interval.
struct PerRank {
  double value = kNoValue, low = kNoValue, high = kNoValue;
};

PerRank per_rank(const Series& series) {
  const auto ranks = static_cast<double>(std::max(1, series.ranks));
  return {series.median / ranks, series.low / ranks, series.high / ranks};
}

bool any_clean(const std::vector<const Series*>& all) {
  return std::ranges::any_of(all, [](const Series* one) { return one->clean > 0; });
}

/// The median of the jobs with the fewest ranks, of clean ones if there are any; their intervals'
/// medians as its interval.
PerRank base_of(const std::vector<const Series*>& bases) {
  std::vector<double> values, lows, highs;
  const bool clean_only = any_clean(bases);
  for (const Series* base : bases) {
    if (clean_only && base->clean == 0) continue;
    const PerRank one = per_rank(*base);
    values.push_back(one.value);
    lows.push_back(one.low);
    highs.push_back(one.high);
  }
  return {median(values), median(lows), median(highs)};
}

}  // namespace

std::vector<Series> scaling_efficiencies(std::span<const Throughput> all) {
  std::map<std::string, std::map<int, std::vector<const Series*>>> by_ranks;
  for (const Throughput& one : all)
    if (is_throughput(*one.series))
      by_ranks[key_without_ranks(*one.series, one.place)][one.series->ranks].push_back(one.series);
  std::vector<Series> derived;
  for (const auto& [key, groups] : by_ranks) {
    const auto& [fewest, bases] = *groups.begin();
    const PerRank base = base_of(bases);
    for (const auto& [ranks, group] : groups) {
      if (ranks == fewest) continue;
      for (const Series* series : group) {
        const PerRank own = per_rank(*series);
        Series& efficiency = derived.emplace_back(
            derive(*series, "scaling_efficiency", own.value / base.value, Better::higher));
        efficiency.params["base_ranks"] = fewest;
        efficiency.params["scaling"] = "strong";  // the batch is a parameter: equal for all
        efficiency.low = own.low / base.high;
        efficiency.high = own.high / base.low;
        if (!any_clean(bases)) efficiency.clean = 0;
      }
    }
  }
  return derived;
}

}  // namespace bench
