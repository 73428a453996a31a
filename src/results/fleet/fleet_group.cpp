#include "results/fleet/fleet_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/acceptance/hearing.h"
#include "results/fleet/golden_bound.h"

namespace bench {
namespace {

std::string share(double value) { return fmt::format("{:.1f} %", 100.0 * value); }

bool is_valid(const FleetMember& member, const FleetSettings& settings) {
  return !member.values.empty() &&
         static_cast<double>(settings.now_ns - member.values.back().time_ns) <=
             settings.valid_days * kDayNs;
}

FleetRow row_of(const FleetGroup& group, const FleetMember& member) {
  FleetRow row{group.series, member.host, member.device, member.values.size()};
  std::vector<double> values;
  for (const FleetValue& value : member.values) values.push_back(value.value);
  row.value = median(values);
  row.last_ns = member.values.empty() ? 0 : member.values.back().time_ns;
  return row;
}

void end(FleetRow& row, Verdict verdict, const std::string& gate, std::string text,
         std::string next_step = "") {
  row.verdict = verdict;
  row.gate = gate;
  row.text = std::move(text);
  row.next_step = std::move(next_step);
}

std::string against_peers(const FleetGroup& group, const FleetRow& row) {
  return fmt::format("{}: {}, {} than the median of its {} peers ({}; z {:.1f})",
                     metric_title(group.about.key), format(row.value, group.about.unit),
                     loss_text(row.loss), group.peers.hosts.size() - 1,
                     format(row.expected, group.about.unit), row.z);
}

bool fails_golden(const FleetGroup& group, const FleetSettings& settings, FleetRow& row) {
  if (group.criterion == nullptr) return false;
  row.golden_loss = loss(row.value, group.criterion->centre, group.about.better);
  const GoldenTest test{group.about.threshold, kGoldenShare * settings.level, group.golden_tests};
  if (!is_below_golden(*group.criterion, test, row.golden_loss, row.half)) return false;
  end(row, Verdict::fail, "golden",
      fmt::format("{}: {}, {} than the profile ({}); allowed: {}", metric_title(group.about.key),
                  format(row.value, group.about.unit), loss_text(row.golden_loss),
                  format(group.criterion->centre, group.about.unit),
                  share(golden_allowed(*group.criterion, group.about.threshold))));
  return true;
}

bool fails_peers(const FleetGroup& group, std::size_t i, FleetRow& row) {
  if (!(row.loss > group.about.threshold) ||
      !stands_out(group.peers.scores, i, row.loss, group.peers.chance[i], group.peers_level))
    return false;
  end(row, Verdict::fail, "peers",
      against_peers(group, row) + fmt::format("; allowed: {}", share(group.about.threshold)));
  return true;
}

bool fails_scatter(const FleetGroup& group, const FleetSettings& settings, std::size_t i,
                   FleetRow& row) {
  const Compared& peers = group.peers;
  if (peers.scatter_chance.empty() ||
      peers.scatter_chance[i] > kRepeatabilityShare * settings.level)
    return false;
  const double own = peers.noise.of_host[i];
  if (!(own >= group.about.threshold)) return false;
  end(row, Verdict::fail, "repeatability",
      fmt::format("{}: run-to-run variation {}, peers {}", metric_title(group.about.key),
                  share(own), share(peers.noise.fleet)));
  return true;
}

/// Advice for an interval too wide for `room`, the distance of the loss to what is allowed.
std::string advised_runs(const FleetRow& row, double room) {
  constexpr double kMostAdvisedRuns = 50;
  const double runs = std::ceil(static_cast<double>(row.runs) * std::pow(row.half / room, 2));
  if (runs > kMostAdvisedRuns)
    return fmt::format("reduce noise on the host: its uncertainty is {}", share(row.half));
  return fmt::format("run again: about {:.0f} runs in total are needed", runs);
}

/// Passes only with enough runs and the whole interval within what is allowed.
void judge_interval(const FleetGroup& group, const FleetSettings& settings, FleetRow& row) {
  const bool has_peers = group.peers.hosts.size() >= kFewestPeers;
  const double lost = has_peers ? row.loss : row.golden_loss;
  const double allowed =
      has_peers ? group.about.threshold : golden_allowed(*group.criterion, group.about.threshold);
  if (row.runs < settings.fewest_runs)
    return end(row, Verdict::inconclusive, "coverage",
               fmt::format("{}: {} of {} required runs", metric_title(group.about.key), row.runs,
                           settings.fewest_runs),
               "run it again");
  if (!std::isfinite(row.half) || lost + row.half <= allowed)
    return end(row, Verdict::pass, has_peers ? "peers" : "golden", "");
  const double room = allowed - lost;
  std::string next_step = "decide by hand: the loss is at the threshold";
  if (room > 0.0)
    next_step = advised_runs(row, room);
  else if (lost - row.half > allowed)
    next_step = "add hosts of this kind, or pass a profile (--profile)";
  end(row, Verdict::inconclusive, has_peers ? "peers" : "golden",
      fmt::format("{}: {}; uncertainty +-{}, tolerance {}", metric_title(group.about.key),
                  loss_text(lost), share(row.half), share(allowed)),
      next_step);
}

FleetRow judge_member(const FleetGroup& group, const FleetSettings& settings, std::size_t i) {
  FleetRow row = row_of(group, group.members[group.placed[i]]);
  const Compared& peers = group.peers;
  row.half = peers.noise.half[i];
  if (peers.hosts.size() >= kFewestPeers) {
    row.expected = peers.scores.median;
    row.loss = loss(row.value, row.expected, group.about.better);
    row.z = peers.scores.z[i];
    if (fails_golden(group, settings, row) || fails_peers(group, i, row) ||
        fails_scatter(group, settings, i, row))
      return row;
  } else if (group.criterion == nullptr) {
    end(row, Verdict::inconclusive, "peers",
        fmt::format("{}: {} of this kind, peer comparison needs {}", metric_title(group.about.key),
                    peers.hosts.size(), kFewestPeers),
        "add hosts of this kind, or pass a profile (--profile)");
    return row;
  } else if (fails_golden(group, settings, row)) {
    return row;
  }
  judge_interval(group, settings, row);
  return row;
}

MetricRuns observed(const FleetGroup& group) {
  MetricRuns runs;
  runs.metric = group.about.key.metric;
  runs.unit = group.about.unit;
  runs.better = group.about.better;
  runs.threshold = group.about.threshold;
  for (const std::size_t i : group.placed) {
    auto& seen = runs.by_hosts[{std::to_string(i)}];
    for (const FleetValue& value : group.members[i].values) {
      Observation one;
      one.value = value.value;
      one.usable = true;
      seen.push_back(std::move(one));
    }
  }
  return runs;
}

}  // namespace

std::int64_t day_of(std::int64_t time_ns) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(time_ns) / kDayNs));
}

void compare(FleetGroup& group, const FleetSettings& settings) {
  Hosts asked;
  for (std::size_t i = 0; i < group.members.size(); ++i)
    if (is_valid(group.members[i], settings)) {
      group.placed.push_back(i);
      asked.push_back(std::to_string(i));
    }
  group.about.hosts = group.members.size();
  if (asked.empty()) return;
  const MetricRuns runs = observed(group);
  group.peers = compared(runs, asked);
  group.peers.metric = nullptr;  // `runs` ends here
  group.peers.owners.clear();
  for (const std::size_t i : group.placed) group.peers.owners.push_back(group.members[i].host);
  group.about.judged = asked.size() >= kFewestPeers || group.criterion != nullptr;
  if (asked.size() < kFewestPeers) return;
  group.about.expected = group.peers.scores.median;
  group.about.noise = group.peers.scores.sigma / group.peers.scores.median;
}

std::vector<FleetRow> judge(const FleetGroup& group, const FleetSettings& settings) {
  std::vector<FleetRow> rows;
  for (std::size_t i = 0; i < group.placed.size(); ++i)
    rows.push_back(judge_member(group, settings, i));
  for (const FleetMember& member : group.members) {
    if (is_valid(member, settings) || member.values.empty()) continue;
    FleetRow row = row_of(group, member);
    const double age = static_cast<double>(settings.now_ns - row.last_ns) / kDayNs;
    end(row, Verdict::inconclusive, "expired",
        fmt::format("{}: last measured {:.0f} days ago; verdicts expire after {:g}",
                    metric_title(group.about.key), age, settings.valid_days),
        "measure it again");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bench
