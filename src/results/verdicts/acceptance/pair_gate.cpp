// Isolates what is slow between two hosts: a host that is slow with every partner, else the link. A
// host's score is its lower quartile of losses, so that one slow partner or link does not make it
// slow. A host or link fails only if the best of its repeats is slow too (kFewestRepeats).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/hostlist.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/stats/peers.h"
#include "results/verdicts/acceptance/gate_context.h"
#include "results/verdicts/peers/compared.h"
#include "results/verdicts/peers/observations.h"

namespace bench {
namespace {

// Log rates between all pairs of hosts in one metric, and a score per host: the upper quartile of
// its pairs, so that one slow partner or link does not lower it.

struct Pair {
  std::string a, b;
  double log_rate = 0.0;  // of the median of its runs; larger is better
  double value = 0.0;
  double best_log_rate = 0.0;  // of the best run
  double spread = 0.0;         // log distance of its best and worst run
  std::size_t runs = 0;
  std::string job = {};
  bool has(const std::string& host) const { return a == host || b == host; }
  const std::string& other(const std::string& host) const { return a == host ? b : a; }
};

struct Pairs {
  const MetricRuns* metric = nullptr;
  std::vector<Pair> pairs;
  Hosts hosts;
  std::vector<double> best;  // of each host: the upper quartile of its pairs, log
  PeerScores scores;
  std::vector<double> best_runs;  // the same of the best run of each pair
  double repeat_spread = 0.0;     // of a typical pair
  std::vector<double> chance;     // of each host: its level by host_chances()
  bool rough = false;             // some only disturbed by other work: values are best samples
};

/// Scores of log rates.
PeerScores pair_scores(const std::vector<double>& rates);

// Of the logarithm: runs between healthy hosts differ by a few per cent.
constexpr double kPairFloor = 0.01;

void set_repeats(Pair& pair, const std::vector<double>& values, double direction) {
  const auto [least, most] = std::ranges::minmax(values);
  pair.spread = std::log(most / least);
  pair.best_log_rate = direction * std::log(direction > 0.0 ? most : least);
}

double upper_quartile(std::vector<double> rates) {
  std::ranges::sort(rates, std::greater<>());
  return rates[(rates.size() - 1) / 4];
}

/// For the requested hosts; empty if the metric was not measured between two hosts.
Pairs pairs_of(const MetricRuns& metric, const Hosts& asked) {
  Pairs all;
  all.metric = &metric;
  std::vector<double> spreads;
  const double direction = metric.better == Better::lower ? -1.0 : 1.0;
  for (const auto& [hosts, runs] : metric.by_hosts) {
    const auto values = metric.values(hosts);
    const double best = metric.best(hosts);
    if (hosts.size() != 2 || std::isnan(best)) continue;
    const double value = values.empty() ? best : median(values);
    all.rough |= values.empty();
    const double log_rate = direction * std::log(value);
    Pair pair{hosts[0], hosts[1], log_rate, value, log_rate};
    pair.runs = values.empty() ? runs.size() : values.size();
    pair.job = runs[0].job;
    if (!values.empty()) set_repeats(pair, values, direction);
    spreads.push_back(pair.spread);
    all.pairs.push_back(std::move(pair));
  }
  if (all.rough)  // alike for all
    for (Pair& pair : all.pairs) {
      pair.value = metric.best({pair.a, pair.b});
      pair.log_rate = pair.best_log_rate = direction * std::log(pair.value);
    }
  for (const std::string& host : asked) {
    std::vector<double> rates, best_rates;
    for (const Pair& pair : all.pairs)
      if (pair.has(host)) {
        rates.push_back(pair.log_rate);
        best_rates.push_back(pair.best_log_rate);
      }
    if (rates.empty()) continue;
    all.hosts.push_back(host);
    all.best.push_back(upper_quartile(rates));
    all.best_runs.push_back(upper_quartile(best_rates));
  }
  if (!all.best.empty()) all.scores = pair_scores(all.best);
  if (!all.pairs.empty()) all.repeat_spread = median(spreads);
  return all;
}

PeerScores pair_scores(const std::vector<double>& rates) {
  return peer_scores(rates, Better::higher, kPairFloor);
}

/// The loss for a log distance: 0.05 for 95 against 100.
double loss_of(double distance) { return 1.0 - std::exp(std::min(distance, 0.0)); }

/// Converts a log rate back to a rate or time.
double as_value(const Pairs& all, double log_rate) {
  return std::exp(all.metric->better == Better::lower ? -log_rate : log_rate);
}

// Other work costs a rank time slices, not nine tenths of its bandwidth: a larger loss fails even
// on a busy host. Observed: 10 % under twice the load.
constexpr double kCrowdedLoss = 0.9;

/// The least loss that fails.
double least_loss(const Pairs& all) {
  return all.rough ? std::max(kCrowdedLoss, all.metric->threshold) : all.metric->threshold;
}

/// Whether the best runs too are so much worse than `others`; both log rates.
bool slow_at_best(const Pairs& all, double best_run, double others) {
  return loss_of(best_run - others) > least_loss(all) &&
         others - best_run > kBeyondRepeats * all.repeat_spread;
}

/// Whether every pair of the host was.
bool repeated(const Pairs& all, const std::string& host) {
  return std::ranges::all_of(
      all.pairs, [&](const Pair& pair) { return !pair.has(host) || pair.runs >= kFewestRepeats; });
}

Reason reason_of_pairs(const Pairs& all, Verdict verdict) {
  return reason_of(*all.metric, verdict, "pairs");
}

std::string own_fault(const GateContext& context, const std::string& host) {
  for (const Reason& reason : context.host(host)->reasons)
    if (reason.verdict == Verdict::fail && reason.gate != "pairs")
      return "; its own " + (reason.metric.empty() ? reason.gate : reason.metric) +
             " also fails, which may be the cause";
  return "; no single-host metric of it fails";
}

void fail_host(const GateContext& context, const Pairs& all, std::size_t i) {
  const std::string& host = all.hosts[i];
  std::vector<std::string> own;
  std::vector<double> others;
  Reason reason = reason_of_pairs(all, Verdict::fail);
  for (const Pair& pair : all.pairs) {
    if (!pair.has(host)) {
      others.push_back(pair.log_rate);
      continue;
    }
    own.push_back(
        fmt::format("{} with {}", format(pair.value, all.metric->unit), pair.other(host)));
    reason.job = pair.job;
  }
  reason.value = as_value(all, all.best[i]);
  reason.expected = as_value(all, others.empty() ? all.scores.median : median(others));
  if (own.size() > 4) own.resize(4);
  reason.text = fmt::format("{}: slow with every partner ({}); pairs without this host: {}{}",
                            all.metric->title(), join(own, ", "),
                            format(reason.expected, all.metric->unit), own_fault(context, host));
  reason.next_step = "check its NIC, cable and switch port";
  context.add_reason(host, std::move(reason));
}

HostMetric row_of_pairs(const Pairs& all, std::size_t i, const AcceptanceSettings& settings) {
  const MetricRuns& metric = *all.metric;
  HostMetric row{metric.case_name, metric.metric, metric.params, metric.unit, settings.fewest_runs};
  row.value = as_value(all, all.best[i]);
  row.expected = as_value(all, all.scores.median);
  row.loss = loss_of(all.best[i] - all.scores.median);
  row.threshold = metric.threshold;
  row.resolution = metric.resolution;
  row.z = all.scores.z[i];
  for (const Pair& pair : all.pairs)
    if (pair.has(all.hosts[i]))
      row.runs = std::min(row.runs, metric.values({pair.a, pair.b}).size());
  return row;
}

bool any_of(const Pair& pair, const Hosts& hosts) {
  return contains(hosts, pair.a) || contains(hosts, pair.b);
}

/// Standard error of the upper quartile of Gaussian values over that of their mean.
constexpr double kQuartileOverMean = 1.3626;

/// Half-width, log, of the 95 % interval of a host's upper quartile, from how the pairs of hosts
/// that do not fail differ; kNoValue for fewer than two.
double half_width(const Pairs& all, const std::string& host, const Hosts& failing) {
  std::vector<double> rates;
  double own = 0.0;
  for (const Pair& pair : all.pairs) {
    if (any_of(pair, failing)) continue;
    rates.push_back(pair.log_rate);
    own += pair.has(host) ? 1.0 : 0.0;
  }
  if (rates.size() < 2 || own == 0.0) return kNoValue;
  return student_95(rates.size() - 1) * kQuartileOverMean *
         std::max(kPairFloor, robust_sigma(rates)) / std::sqrt(own);
}

bool fails(const GateContext& context, const Pairs& all, std::size_t i) {
  return loss_of(all.best[i] - all.scores.median) > least_loss(all) &&
         repeated(all, all.hosts[i]) &&
         slow_at_best(all, all.best_runs[i], median(all.best_runs)) &&
         stands_out(all.scores, i, loss_of(all.best[i] - all.scores.median), all.chance[i],
                    kPairsShare * context.settings.level);
}

Reason open_reason(const Pairs& all, const HostMetric& row) {
  Reason reason = reason_of_pairs(all, Verdict::inconclusive);
  reason.value = row.value;
  reason.expected = row.expected;
  reason.more_runs = all.hosts.size() >= kFewestPeers;
  reason.text =
      reason.more_runs
          ? fmt::format(
                "{}: {} in its better pairs against {}; a loss of up to {} is not "
                "excluded, {} must be",
                all.metric->title(), format(row.value, row.unit), format(row.expected, row.unit),
                share_text(row.loss_at_most()), share_text(row.resolution))
          : fmt::format("{}: {} in pairs; {} hosts are too few to isolate one, {} required",
                        all.metric->title(), format(row.value, row.unit), all.hosts.size(),
                        kFewestPeers);
  reason.next_step = "repeat, or add hosts of this kind";
  return reason;
}

// Half of the rate is lost by a fault, whatever healthy pairs differ by: several slow hosts among
// few look like scatter, too.
constexpr double kMostScatter = 0.5;

/// Whether repeats that differ by `spread` vary as those of a typical pair do, and the best of them
/// are as good as others'; log rates.
bool met_slow_runs(const Pairs& all, double spread, double best, double best_of_others) {
  return spread <= kAsNoisy * std::max(kPairFloor, all.repeat_spread) &&
         loss_of(best - best_of_others) <= kAsGood * all.metric->resolution;
}

/// Of the pairs of a host, the typical one.
double repeat_spread(const Pairs& all, const std::string& host) {
  std::vector<double> own;
  for (const Pair& pair : all.pairs)
    if (pair.has(host)) own.push_back(pair.spread);
  return median(own);
}

/// Whether noise alone keeps the host from passing: that of all pairs, which hides losses up to
/// `typical`, or that of its own.
bool pairs_hide(const Pairs& all, std::size_t i, const HostMetric& row, double typical) {
  if (all.rough) return row.loss <= row.resolution;
  if (typical > kMostScatter) return false;
  return is_noise(row.loss, row.half, row.resolution, typical) ||
         met_slow_runs(all, repeat_spread(all, all.hosts[i]), all.best_runs[i],
                       median(all.best_runs));
}

/// Of a host that does not fail. `typical`: the loss that could be seen on a typical host.
void judge_row(const GateContext& context, const Pairs& all, HostMetric& row, std::size_t i,
               double typical) {
  const std::string& host = all.hosts[i];
  const bool few = all.hosts.size() < kFewestPeers;
  const bool bounded = few && context.bounded.contains(bound_key(host, row.case_name, row.metric));
  row.unresolved = !few && pairs_hide(all, i, row, typical);
  if (bounded || (!few && !all.rough && row.loss_at_most() <= row.resolution)) {
    row.verdict = Verdict::pass;
    row.unresolved = false;
  } else if (!row.unresolved) {
    context.add_reason(host, open_reason(all, row));
  }
}

/// `excluded`: the loss that is excluded on all hosts left open.
void add_unresolved(const GateContext& context, const Pairs& all, Hosts open, double typical,
                    double excluded) {
  if (open.empty()) return;
  Unresolved one = unresolved_of(*all.metric, std::move(open));
  const std::string title = all.metric->title();
  if (all.rough) {
    one.text = title + ": some pairs were measured only while other work was running";
    one.runs = static_cast<double>(context.settings.fewest_runs);
    one.next_step = "rerun on idle hosts";
  } else {
    const bool of_all = typical > one.promised;
    one.reached = of_all ? typical : excluded;
    one.text = of_all ? fmt::format(
                            "{}: pairs of hosts differ so much that losses of one host below {} "
                            "cannot be seen; {} should be",
                            title, share_text(one.reached), share_text(one.promised))
                      : fmt::format(
                            "{}: the pairs of {} differ so much that a loss of up to {} is not "
                            "excluded; {} should be",
                            title, compact_hostlist(one.hosts), share_text(one.reached),
                            share_text(one.promised));
    one.next_step = "stop other work on the hosts and the network";
  }
  context.acceptance.unresolved.push_back(std::move(one));
}

/// Adds rows and reasons; returns the hosts that fail.
Hosts judge_hosts(const GateContext& context, const Pairs& all) {
  Hosts failing, open;
  double excluded = kNoValue;
  for (std::size_t i = 0; i < all.hosts.size(); ++i)
    if (fails(context, all, i)) failing.push_back(all.hosts[i]);
  std::vector<double> halves;
  for (const std::string& host : all.hosts)
    halves.push_back(-std::expm1(-half_width(all, host, failing)));
  const double typical = kOneSided * finite_median(halves);
  for (std::size_t i = 0; i < all.hosts.size(); ++i) {
    HostMetric row = row_of_pairs(all, i, context.settings);
    row.half = halves[i];
    if (contains(failing, all.hosts[i])) {
      row.verdict = Verdict::fail;
      fail_host(context, all, i);
    } else {
      judge_row(context, all, row, i, typical);
    }
    if (row.unresolved) {
      open.push_back(all.hosts[i]);
      excluded = std::fmax(excluded, row.loss_at_most());
    }
    context.host(all.hosts[i])->metrics.push_back(std::move(row));
  }
  add_unresolved(context, all, std::move(open), typical, excluded);
  return failing;
}

Reason reason_of_link(const Pairs& all, const Pair& pair, double median, Verdict verdict) {
  Reason reason = reason_of_pairs(all, verdict);
  reason.value = pair.value;
  reason.expected = as_value(all, median);
  reason.job = pair.job;
  return reason;
}

void fail_link(const GateContext& context, const Pairs& all, const Pair& pair, double median) {
  Reason reason = reason_of_link(all, pair, median, Verdict::fail);
  reason.text = fmt::format(
      "{}: link between {} and {} is slow ({} against {}); both are fine with other hosts",
      all.metric->title(), pair.a, pair.b, format(reason.value, reason.unit),
      format(reason.expected, reason.unit));
  reason.next_step = "check the path between them: cables, switch ports, routes";
  context.acceptance.links.push_back({pair.a, pair.b, reason});
  reason.verdict = Verdict::inconclusive;
  context.add_reason(pair.a, reason);
  context.add_reason(pair.b, reason);
}

/// Slow, but not in all runs, or in too few.
void suspect_link(const GateContext& context, const Pairs& all, const Pair& pair, double median) {
  Reason reason = reason_of_link(all, pair, median, Verdict::inconclusive);
  reason.text =
      fmt::format("{}: between {} and {} {} against {}, but {}", all.metric->title(), pair.a,
                  pair.b, format(reason.value, reason.unit), format(reason.expected, reason.unit),
                  pair.runs < kFewestRepeats
                      ? fmt::format("in fewer than {} runs", kFewestRepeats)
                      : fmt::format("up to {} in other runs",
                                    format(as_value(all, pair.best_log_rate), reason.unit)));
  reason.next_step = "repeat on idle hosts: other work, or a link that fails at times";
  reason.more_runs = true;
  context.add_reason(pair.a, reason);
  context.add_reason(pair.b, reason);
}

/// Links between hosts that are fine with other partners.
void judge_links(const GateContext& context, const Pairs& all, const Hosts& failing) {
  std::vector<double> rates, best_runs;
  std::vector<const Pair*> pairs;
  for (const Pair& pair : all.pairs) {
    if (any_of(pair, failing)) continue;
    rates.push_back(pair.log_rate);
    best_runs.push_back(pair.best_log_rate);
    pairs.push_back(&pair);
  }
  if (rates.size() < kFewestPeers) return;
  const PeerScores scores = pair_scores(rates);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (loss_of(rates[i] - scores.median) <= least_loss(all) ||
        scores.levels[i] > kPairsShare * context.settings.level)
      continue;
    const double best = median(best_runs);
    const bool often = pairs[i]->runs >= kFewestRepeats;
    if (often && slow_at_best(all, best_runs[i], best))
      fail_link(context, all, *pairs[i], scores.median);
    else if (!often || !met_slow_runs(all, pairs[i]->spread, best_runs[i], best))
      suspect_link(context, all, *pairs[i], scores.median);
  }
}

/// Losses of all pairs, as a page draws them.
PairMatrix matrix_of(const Pairs& all) {
  std::vector<double> rates;
  for (const Pair& pair : all.pairs) rates.push_back(pair.log_rate);
  const double typical = median(rates);
  PairMatrix matrix{.metric = all.metric->title(), .threshold = all.metric->threshold};
  for (const Pair& pair : all.pairs)
    matrix.pairs.push_back({pair.a, pair.b, -std::expm1(pair.log_rate - typical)});
  return matrix;
}

/// Sets of hosts with too few usable runs, except those that contain a failed host, and pairs
/// whose other work is said once.
void judge_pair_coverage(const GateContext& context, const MetricRuns& metric, const Hosts& failing,
                         bool rough) {
  for (const auto& [hosts, runs] : metric.by_hosts) {
    if (hosts.size() < 2 ||
        std::ranges::any_of(hosts, [&](const auto& host) { return contains(failing, host); }) ||
        (rough && std::ranges::any_of(runs, &Observation::rough)))
      continue;
    const auto reason = too_few_runs(metric, hosts, context.settings.fewest_runs);
    if (!reason) continue;
    for (const std::string& host : hosts) context.add_reason(host, *reason);
  }
}

}  // namespace

void judge_pairs(GateContext& context) {
  std::vector<Pairs> fields;
  for (const MetricRuns& metric : context.metrics) {
    Pairs all = pairs_of(metric, context.settings.hosts);
    if (all.pairs.empty()) {
      judge_pair_coverage(context, metric, {}, false);
      continue;
    }
    fields.push_back(std::move(all));
  }
  std::vector<HostLevels> levels;
  for (const Pairs& field : fields) levels.push_back({&field.hosts, &field.scores.levels});
  auto chances = host_chances(levels);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Pairs& field = fields[i];
    field.chance = std::move(chances[i]);
    context.acceptance.pairs.push_back(matrix_of(field));
    const Hosts failing = judge_hosts(context, field);
    judge_links(context, field, failing);
    judge_pair_coverage(context, *field.metric, failing, field.rough);
  }
}

}  // namespace bench
