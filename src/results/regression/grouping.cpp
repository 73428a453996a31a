#include "results/regression/grouping.h"

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "results/regression/shared_series.h"

namespace bench {
namespace {

Member member_of(const SeriesHistory& history) {
  Member member{history.key, {}};
  member.values.reserve(history.points.size());
  for (const Point& point : history.points)
    if (std::isfinite(point.value))
      member.values.push_back({point.run, point.time_ns, point.configuration, point.value});
  return member;
}

}  // namespace

void each_group(const Histories& histories, const RegressionOptions& options,
                const std::function<void(const std::vector<Member>&)>& take) {
  std::string metric;
  Json params;
  std::map<std::tuple<std::string, std::string, int, Unit>, std::vector<Member>> kinds;
  const auto finish = [&] {
    for (const auto& [kind, members] : kinds) take(members);
    kinds.clear();
  };
  Selection selection = options.selection;
  selection.hosts.clear();  // each is judged among its peers
  if (selection.most_points == 0) selection.most_points = options.most_points;
  histories.each(selection, [&](const SeriesHistory& history) {
    const SeriesKey& key = history.key;
    if (key.metric != metric || key.params != params) {
      finish();
      metric = key.metric;
      params = key.params;
    }
    kinds[{kind_of_device(key.device), key.over, key.ranks, key.unit}].push_back(
        member_of(history));
  });
  finish();
}

}  // namespace bench
