// Hardware error counters during the jobs. Some fail at the first error; link errors are judged per
// bit moved, with an exact Poisson test against the ratio their standard allows. Too few bits give
// no verdict, with or without an error.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "results/run/counters.h"
#include "results/stats/distributions.h"
#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

/// A count less likely than this at the allowed ratio is inconclusive; the failure level depends on
/// how many counters are judged.
constexpr double kDoubtful = 0.05;
/// Fewer may stem from one event and must be seen again in another run.
constexpr double kFewestErrors = 3.0;

using SumsOfHosts = std::map<HostAcceptance*, CounterSums>;

SumsOfHosts sums_of(const GateContext& context) {
  SumsOfHosts sums;
  for (std::size_t run = 0; run < context.records.size(); ++run) {
    const PlannedJobs jobs = jobs_by_id(context.reports[run]);
    for (const Record& record : context.records[run].records) {
      const auto* facts = std::get_if<Facts>(&record.body);
      if (facts == nullptr || facts->topic != "counters") continue;
      const auto job = jobs.find(record.job);
      const std::string& name = job == jobs.end() ? record.job : job->second->case_name;
      for (const Json& one : array_field(facts->facts, "hosts"))
        if (HostAcceptance* host = context.host(text_field(one, "host")))
          sums[host].add(one, record.job, name);
    }
  }
  return sums;
}

Reason reason_of_counter(const HostCounter& counter, Verdict verdict) {
  Reason reason{verdict, "counters"};
  reason.metric = "counters." + std::string(counter.rule->counter);
  reason.params = {{"device", counter.device}};
  reason.unit = Unit::count;
  reason.value = counter.count;
  reason.expected = 0.0;
  reason.job = counter.job;
  reason.next_step = counter.rule->next_step;
  return reason;
}

/// Traffic without further errors after which the link passes.
std::string more_bytes(const HostCounter& counter) {
  const double bits = poisson_upper(counter.count) / counter.rule->error_ratio;
  const double bytes = (bits - counter.bits) / counter.rule->bits_per_byte;
  return fmt::format("passes after {} more traffic without another error",
                     format(Bytes{std::max(bytes, 0.0)}));
}

std::string expectation(const HostCounter& counter) {
  return fmt::format("at most {:.2g} expected ({}); p = {:.2g}",
                     counter.rule->error_ratio * counter.most_bits, counter.rule->why,
                     counter.chance);
}

/// `level`: a count fails at or below this probability.
void judge_rate(HostCounter& counter, HostAcceptance& host, double level) {
  if (!(counter.bits > 0.0)) return;  // unknown traffic: shown, not judged
  const double expected = counter.rule->error_ratio * counter.most_bits;
  counter.upper = poisson_upper(counter.count) / counter.bits;
  counter.chance = poisson_at_least(counter.count, expected);
  if (counter.upper <= counter.rule->error_ratio) counter.verdict = Verdict::pass;
  if (counter.verdict || counter.chance > kDoubtful) return;
  counter.verdict = counter.chance <= level && counter.count >= kFewestErrors
                        ? Verdict::fail
                        : Verdict::inconclusive;
  Reason reason = reason_of_counter(counter, *counter.verdict);
  reason.expected = expected;
  reason.text = counter.title() + ": " + expectation(counter);
  if (counter.verdict == Verdict::inconclusive) {
    reason.next_step = more_bytes(counter);
    reason.case_name = counter.case_name;
    reason.more_runs = true;
  }
  host.reasons.push_back(std::move(reason));
}

void judge_presence(HostCounter& counter, HostAcceptance& host) {
  counter.verdict = Verdict::pass;
  if (!(counter.count > 0.0)) return;
  counter.verdict = counter.rule->kind == CounterKind::hard ? Verdict::fail : Verdict::inconclusive;
  Reason reason = reason_of_counter(counter, *counter.verdict);
  reason.text = fmt::format("{}: {}", counter.title(), counter.rule->why);
  host.reasons.push_back(std::move(reason));
}

void judge_counter(HostCounter& counter, HostAcceptance& host, double level) {
  if (counter.broken > 0)
    host.notes.push_back(fmt::format(
        "{} of {} was reset, vanished or could not be read in {} jobs: its counts there are "
        "unknown",
        counter.rule->counter, counter.device.empty() ? "the host" : counter.device,
        counter.broken));
  if (!counter.known || counter.rule->kind == CounterKind::shown) return;
  if (counter.rule->kind == CounterKind::rate)
    judge_rate(counter, host, level);
  else
    judge_presence(counter, host);
}

std::size_t rates_in(const HostAcceptance& host) {
  return static_cast<std::size_t>(std::ranges::count_if(host.counters, [](const HostCounter& one) {
    return one.rule->kind == CounterKind::rate && one.known && one.bits > 0.0;
  }));
}

void add_problem(HostAcceptance& host, const std::string& problem) {
  Reason reason{Verdict::inconclusive, "counters"};
  reason.text = "error counters could not be read: " + problem;
  reason.next_step = "fix the driver that does not respond and rerun";
  host.reasons.push_back(std::move(reason));
}

}  // namespace

std::vector<const HostCounter*> relevant_counters(const HostAcceptance& host) {
  std::vector<const HostCounter*> relevant;
  for (const HostCounter& counter : host.counters)
    if (counter.count > 0.0 || (counter.rule->kind == CounterKind::rate && counter.bits > 0.0))
      relevant.push_back(&counter);
  return relevant;
}

void judge_counters(GateContext& context) {
  std::size_t rates = 0;
  const std::map<HostAcceptance*, Volumes> volumes = volumes_of(context);
  for (auto& [host, sums] : sums_of(context)) {
    const auto copied = volumes.find(host);
    host->counters = sums.counters(copied == volumes.end() ? Volumes{} : copied->second);
    rates += rates_in(*host);
    if (!sums.problem().empty()) add_problem(*host, sums.problem());
  }
  const double level =
      context.settings.level / static_cast<double>(std::max<std::size_t>(rates, 1));
  for (HostAcceptance& host : context.acceptance.hosts)
    for (HostCounter& counter : host.counters) judge_counter(counter, host, level);
}

}  // namespace bench
