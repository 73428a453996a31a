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

bool nothing_measured(const Night& night) {
  return std::ranges::none_of(night.hosts, [](const NightHost& host) { return host.ok > 0; });
}

Json host_json(const NightHost& host) {
  return {{"host", host.host},
          {"planned", host.planned},
          {"ok", host.ok},
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

Verdict verdict_of(const NightFinding& finding, bool measured_only) {
  if (finding.state == SuspicionState::dropped) return Verdict::pass;
  const bool counts =
      finding.kind != SuspicionKind::unchecked && (!measured_only || !finding.metric.empty());
  return finding.state == SuspicionState::confirmed && counts ? Verdict::fail
                                                              : Verdict::inconclusive;
}

Verdict verdict_of(const Night& night) {
  Verdict verdict = nothing_measured(night) ? Verdict::inconclusive : Verdict::pass;
  for (const NightFinding& finding : night.findings)
    verdict = worse(verdict, verdict_of(finding, night.measured_only));
  return verdict;
}

ExitCode exit_code_of(const Night& night) {
  if (night.interrupted) return ExitCode::interrupted;
  const Verdict verdict = verdict_of(night);
  if (verdict == Verdict::fail) return ExitCode::failed;
  if (verdict == Verdict::inconclusive) return ExitCode::not_measured;
  return night.indexed ? ExitCode::ok : ExitCode::environment;
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
          {"no_history", night.no_history},
          {"not_clean", night.not_clean},
          {"interrupted", night.interrupted},
          {"findings", list_of(night.findings, [](const auto& one) { return to_json(one); })},
          {"hosts", list_of(night.hosts, host_json)},
          {"left_out", list_of(night.skipped_checks, skipped_json)},
          {"hooks", list_of(night.hooks, hook_json)}};
}

}  // namespace bench
