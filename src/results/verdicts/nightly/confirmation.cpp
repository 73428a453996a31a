#include "results/verdicts/nightly/confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

constexpr std::size_t kFewestReruns = 2;

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values)
    if (value > 0.0 && std::isfinite(value)) logs.push_back(std::log(value));
  return logs;
}

std::vector<double> usable(const std::vector<Rerun>& runs) {
  std::vector<double> values;
  for (const Rerun& run : runs)
    if (run.clean && std::isfinite(run.value)) values.push_back(run.value);
  return values;
}

std::vector<double> all_values(const std::vector<Rerun>& runs) {
  std::vector<double> values;
  for (const Rerun& run : runs)
    if (std::isfinite(run.value)) values.push_back(run.value);
  return values;
}

void set(NightFinding& finding, SuspicionState state, std::string text,
         std::string next_step = {}) {
  finding.state = state;
  finding.text = std::move(text);
  finding.next_step = std::move(next_step);
}

/// "; peer n2 also lost 5.1 %: ..." where it did.
std::string peer_text(const NightFinding& finding, const Evidence& evidence,
                      const ConfirmationRule& rule) {
  if (finding.peer.empty()) return "";
  const auto values = usable(evidence.peer);
  if (values.empty() || evidence.peer_history.empty())
    return fmt::format("; peer {} could not be compared", finding.peer);
  const double lost = loss_of(median(values), median(evidence.peer_history), finding.better);
  if (lost >= rule.threshold)
    return fmt::format("; peer {} also lost {}: check what they share", finding.peer,
                       share_text(lost));
  return fmt::format("; peer {} is unchanged", finding.peer);
}

}  // namespace

double chance_of(std::span<const double> history, std::span<const double> values, Better better,
                 double floor) {
  const std::vector<double> past = logarithms(history), now = logarithms(values);
  if (past.size() < 2 || now.empty()) return kNoValue;
  const double s = std::max(standard_deviation(past), floor);
  const auto n = static_cast<double>(past.size()), k = static_cast<double>(now.size());
  const double t = (mean(now) - mean(past)) / (s * std::sqrt(1.0 / k + 1.0 / n));
  if (better == Better::none) return 2.0 * student_cdf(-std::abs(t), n - 1.0);
  return student_cdf(better == Better::higher ? t : -t, n - 1.0);
}

void judge_slower(NightFinding& finding, const Evidence& evidence, const ConfirmationRule& rule) {
  const std::vector<double> values = usable(evidence.host);
  finding.again = all_values(evidence.host);
  finding.peer_again = all_values(evidence.peer);
  if (evidence.history.size() < 2)
    return set(finding, SuspicionState::unsettled, "no history to compare the reruns with",
               "wait two more nights");
  if (values.size() < kFewestReruns)
    return set(finding, SuspicionState::unsettled,
               fmt::format("{} of {} reruns were clean and valid; two required", values.size(),
                           evidence.host.size()),
               "rerun it on an idle host");
  finding.expected = median(evidence.history);
  finding.p = chance_of(evidence.history, values, finding.better, rule.floor);
  const double lost = loss_of(median(values), finding.expected, finding.better);
  const std::string again = fmt::format("{} immediate reruns: {} than in {} earlier runs",
                                        values.size(), loss_text(lost), evidence.history.size());
  if (lost < rule.threshold)
    return set(finding, SuspicionState::dropped,
               fmt::format("not reproduced: {}; tolerance {}", again, share_text(rule.threshold)));
  if (finding.p < rule.level)
    return set(finding, SuspicionState::confirmed, again + peer_text(finding, evidence, rule));
  set(finding, SuspicionState::unsettled,
      fmt::format("{}, but noise alone gives such a loss with a chance of {}", again,
                  share_text(finding.p)),
      "wait for more nights, or raise --reruns");
}

void judge_failed(NightFinding& finding, std::size_t ran, std::size_t failed,
                  std::size_t peer_failed) {
  const bool is_quota = finding.kind == SuspicionKind::cpu_quota;
  const std::string again = is_quota ? fmt::format("so it did in {} of {} reruns", failed, ran)
                                     : fmt::format("{} of {} reruns also failed", failed, ran);
  const std::string first = finding.text;
  const std::string peer = finding.peer.empty() || peer_failed == 0
                               ? ""
                               : fmt::format("; {} reruns of peer {} failed: check what they share",
                                             peer_failed, finding.peer);
  if (finding.kind == SuspicionKind::wrong)
    return set(finding, SuspicionState::confirmed,
               fmt::format("{}; {}; correct reruns do not clear a wrong result", first, again));
  if (failed > 0)
    return set(finding, SuspicionState::confirmed, fmt::format("{}; {}{}", first, again, peer),
               is_quota
                   ? "raise cpu.max of the cgroup that starts the ranks; a quota that is meant "
                     "to stay is no finding once half of the last 20 runs had it"
                   : "");
  if (ran < kFewestReruns)
    return set(finding, SuspicionState::unsettled,
               fmt::format("{}; only {} reruns ran, two required", first, ran), "rerun it");
  set(finding, SuspicionState::dropped, fmt::format("{}; {}", first, again));
}

}  // namespace bench
