#include "results/verdicts/training/batch_ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/order_statistics.h"
#include "results/verdicts/training/training_report.h"

namespace bench {
namespace {

constexpr double kEnough = 0.95;  // of the highest rate

BatchPoint point_of(std::span<const TrainingGroup> groups, std::size_t index) {
  const TrainingGroup& group = groups[index];
  BatchPoint point{.batch = group.setup.batch, .group = index};
  point.micro_batch = integer_field(group.facts, "micro_batch");
  point.items_per_second = group.items_per_second;
  point.low = group.items_low;
  point.high = group.items_high;
  for (const TrainingMemory& memory : group.memory)
    if (std::isfinite(memory.bytes))
      point.memory = (std::isfinite(point.memory) ? point.memory : 0.0) + memory.bytes;
  std::vector<double> gaps;
  for (const TrainingRun& run : group.runs) {
    if (was_timed(run)) {
      gaps.push_back(run.quality);
      if (!run.curve.empty()) point.samples = run.curve.back().samples;
    } else if (point.reason.empty()) {
      point.reason = run.reason;
    }
  }
  point.gap = finite_median(gaps);
  if (!(point.items_per_second > 0.0)) point.items_per_second = kNoValue;
  if (std::isfinite(point.items_per_second)) point.reason.clear();
  return point;
}

BatchLadder ladder_of(std::span<const TrainingGroup> groups, std::vector<std::size_t> members) {
  std::ranges::sort(members, {}, [&](std::size_t i) { return groups[i].setup.batch; });
  BatchLadder ladder{.samples = groups[members.front()].setup.sample_budget};
  for (const std::size_t member : members) ladder.points.push_back(point_of(groups, member));
  for (std::size_t i = 0; i < ladder.points.size(); ++i) {
    const double rate = ladder.points[i].items_per_second;
    if (!std::isfinite(rate)) continue;
    if (!ladder.fastest || rate > ladder.points[*ladder.fastest].items_per_second)
      ladder.fastest = i;
  }
  for (std::size_t i = 0; ladder.fastest && !ladder.enough && i < ladder.points.size(); ++i)
    if (ladder.points[i].items_per_second >=
        kEnough * ladder.points[*ladder.fastest].items_per_second)
      ladder.enough = i;
  return ladder;
}

}  // namespace

std::vector<BatchLadder> batch_ladders_of(std::span<const TrainingGroup> groups) {
  std::map<std::string, std::vector<std::size_t>> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const TrainingSetup& setup = groups[i].setup;
    if (setup.sample_budget <= 0 || setup.batch <= 0) continue;
    found[dump({scaling_key_of(setup), setup.ranks, setup.on})].push_back(i);
  }
  std::vector<BatchLadder> ladders;
  for (auto& [setup, members] : found)
    if (members.size() > 1) ladders.push_back(ladder_of(groups, std::move(members)));
  return ladders;
}

bool fits_elsewhere(std::span<const BatchLadder> ladders, std::size_t group) {
  return std::ranges::any_of(ladders, [&](const BatchLadder& ladder) {
    return ladder.fastest &&
           std::ranges::find(ladder.points, group, &BatchPoint::group) != ladder.points.end();
  });
}

std::string ladder_words(const BatchLadder& ladder) {
  if (!ladder.fastest) return "no batch could be timed";
  std::string text = fmt::format("batch {} is the fastest of {}",
                                 ladder.points[*ladder.fastest].batch, ladder.points.size());
  if (ladder.enough && *ladder.enough < *ladder.fastest)
    text += fmt::format("; batch {} comes within {:.0f} % of it",
                        ladder.points[*ladder.enough].batch, 100.0 * (1.0 - kEnough));
  return text;
}

}  // namespace bench
