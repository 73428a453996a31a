#include "results/verdicts/nightly/night.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "core/time.h"
#include "results/verdicts/nightly/past.h"

namespace bench {
namespace {

std::size_t unmeasured_hosts(const Night& night) {
  return static_cast<std::size_t>(std::ranges::count_if(
      night.hosts, [](const NightHost& host) { return host.planned > 0 && host.ok == 0; }));
}

std::size_t disturbed_jobs(const Night& night) {
  std::size_t jobs = 0;
  for (const NightHost& host : night.hosts) jobs += host.disturbed;
  return jobs;
}

Json host_json(const NightHost& host) {
  return {{"host", host.host},
          {"planned", host.planned},
          {"ok", host.ok},
          {"disturbed", host.disturbed},
          {"age_s", number_or_null(host.age_s)}};
}

Json skipped_json(const SkippedCheck& left) {
  return {{"host", left.host},
          {"case", left.case_name},
          {"age_s", number_or_null(left.age_s)},
          {"why", left.why}};
}

Json hook_json(const HookCall& call) {
  return {{"command", call.command}, {"host", call.host}, {"trouble", text_or_null(call.trouble)}};
}

template <class Item, class Function>
Json list_of(const std::vector<Item>& items, Function to_json_of) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json_of(item));
  return list;
}

}  // namespace

void count_jobs(const std::vector<JobResult>& jobs, std::map<std::string, NightHost>& hosts) {
  for (const JobResult& job : jobs)
    for (const std::string& host : job.job.hosts) {
      NightHost& one = hosts[host];
      one.host = host;
      ++one.planned;
      if (job.outcome == Status::ok) ++one.ok;
      if (job.disturbed) ++one.disturbed;
    }
}

Verdict verdict_of(const NightFinding& finding, bool measured_only) {
  if (finding.state == SuspicionState::dropped) return Verdict::pass;
  const bool counts =
      finding.kind != SuspicionKind::unchecked && (!measured_only || !finding.metric.empty());
  return finding.state == SuspicionState::confirmed && counts ? Verdict::fail
                                                              : Verdict::inconclusive;
}

Conclusion conclusion_of(const Night& night) {
  Conclusion conclusion{.passed = night.tested,
                        .unjudged = disturbed_jobs(night) + unmeasured_hosts(night),
                        .interrupted = night.interrupted,
                        .indexed = night.indexed};
  for (const NightFinding& finding : night.findings)
    if (const Verdict verdict = verdict_of(finding, night.measured_only); verdict != Verdict::pass)
      conclusion.add(verdict);
  return conclusion;
}

Verdict verdict_of(const Night& night) { return conclusion_of(night).verdict(); }

ExitCode exit_code_of(const Night& night) { return conclusion_of(night).exit_code(); }

std::string why_inconclusive(const Night& night) {
  std::vector<std::string> reasons;
  if (night.tested == 0 && night.no_history > 0)
    reasons.push_back("no series has enough history to compare with yet");
  else if (night.tested == 0)
    reasons.push_back("no series was compared with its history");
  if (const std::size_t jobs = disturbed_jobs(night); jobs > 0)
    reasons.push_back(fmt::format("{} jobs have no clean samples", jobs));
  if (const std::size_t hosts = unmeasured_hosts(night); hosts > 0)
    reasons.push_back(fmt::format("{} hosts have no successful job", hosts));
  return join(reasons, "; ");
}

void find_unchecked(Night& night, double days) {
  for (const NightHost& host : night.hosts) {
    if (host.age_s <= days * kDay_s) continue;
    NightFinding finding;
    finding.kind = SuspicionKind::unchecked;
    finding.state = SuspicionState::confirmed;
    finding.host = host.host;
    finding.run = night.run;
    finding.text =
        std::isfinite(host.age_s)
            ? fmt::format("not measured for {:.1f} days; limit {:.0f}", host.age_s / kDay_s, days)
            : "never measured";
    finding.next_step =
        "check that it is up and idle at night, or run `benchctl run nightly` on it";
    night.findings.push_back(finding);
  }
}

Json to_json(const Night& night) {
  return {{"verdict", to_string(verdict_of(night))},
          {"exit_code", static_cast<int>(exit_code_of(night))},
          {"run", text_or_null(night.run)},
          {"runs", night.runs},
          {"reruns", night.reruns},
          {"suite", night.suite},
          {"time", format_time(night.time_ns)},
          {"budget_s", night.budget_s},
          {"seconds", night.seconds},
          {"value", night.value},
          {"exact", night.exact},
          {"tested", night.tested},
          {"inconclusive", text_or_null(why_inconclusive(night))},
          {"no_history", night.no_history},
          {"not_clean", night.not_clean},
          {"interrupted", night.interrupted},
          {"findings", list_of(night.findings, [](const auto& one) { return to_json(one); })},
          {"hosts", list_of(night.hosts, host_json)},
          {"left_out", list_of(night.skipped_checks, skipped_json)},
          {"hooks", list_of(night.hooks, hook_json)}};
}

}  // namespace bench
