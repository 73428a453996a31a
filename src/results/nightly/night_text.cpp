#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json_text.h"
#include "core/text.h"
#include "results/nightly/night.h"
#include "results/nightly/past.h"

namespace bench {
namespace {

constexpr std::size_t kMostSkipped = 10;

Paint paint_of_state(SuspicionState state) {
  if (state == SuspicionState::confirmed) return Paint::red;
  return state == SuspicionState::dropped ? Paint::dim : Paint::yellow;
}

std::string age_text(double age_s) {
  return std::isfinite(age_s) ? fmt::format("{:.1f} days ago", age_s / kDay_s) : "never";
}

std::string params_text(const Json& params) {
  std::string text;
  for (const auto& [name, value] : params.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of(value));
  return text.empty() ? "" : " (" + text + ")";
}

std::string head_text(const Night& night, const TextStyle& style) {
  const Verdict verdict = verdict_of(night);
  const Paint colour = verdict == Verdict::pass   ? Paint::green
                       : verdict == Verdict::fail ? Paint::red
                                                  : Paint::yellow;
  std::size_t ok = 0, planned = 0;
  for (const NightHost& host : night.hosts) ok += host.ok, planned += host.planned;
  return fmt::format(
      "night {} ({}): {}\n{} of {} jobs ok on {} hosts, {:.0f} s of {:.0f} s; {} series compared "
      "with their history, {} without enough history, {} not clean\n",
      night.run.empty() ? "no run" : night.run, printable(night.suite),
      paint(to_string(verdict), colour, style), ok, planned, night.hosts.size(), night.seconds,
      night.budget_s, night.tested, night.no_history, night.not_clean);
}

std::string skipped_text(const Night& night) {
  if (night.skipped_checks.empty()) return "";
  std::string text = "\nnot checked tonight, first in line tomorrow:\n";
  for (std::size_t i = 0; i < std::min(kMostSkipped, night.skipped_checks.size()); ++i) {
    const SkippedCheck& left = night.skipped_checks[i];
    const std::string what = left.case_name.empty() ? "" : " " + left.case_name;
    text += printable(fmt::format("  {}{}: last checked {}; {}", left.host, what,
                                  age_text(left.age_s), left.why)) +
            "\n";
  }
  if (night.skipped_checks.size() > kMostSkipped)
    text += fmt::format("  and {} more (see --json)\n", night.skipped_checks.size() - kMostSkipped);
  return text;
}

std::string hooks_text(const Night& night) {
  std::string text;
  for (const HookCall& call : night.hooks)
    if (!call.trouble.empty())
      text += printable(fmt::format("hook {} for {}: {}", call.command, call.host, call.trouble)) +
              "\n";
  return text;
}

}  // namespace

std::string finding_line(const NightFinding& finding) {
  const std::string what =
      finding.metric.empty() ? finding.case_name : finding.metric + params_text(finding.params);
  const double share = effect(finding);
  return fmt::format("{}{}{}{}", finding.host, what.empty() ? "" : "  " + what,
                     std::isfinite(share) ? fmt::format("  {:+.1f} %", 100.0 * share) : "",
                     std::isfinite(finding.p) ? fmt::format("  p={:.2g}", finding.p) : "");
}

std::string to_text(const Night& night, const TextStyle& style) {
  std::string text = head_text(night, style);
  if (!night.findings.empty()) text += "\n";
  for (const NightFinding& finding : night.findings) {
    const bool unchecked = finding.kind == SuspicionKind::unchecked;
    const std::string_view state = unchecked ? "unchecked" : to_string(finding.state);
    text += paint(fmt::format("{:<10}", state), paint_of_state(finding.state), style) +
            printable(finding_line(finding)) + "\n    " +
            wrap(printable(finding.text), 4, 4, style) + "\n";
    if (!finding.next_step.empty())
      text += "    " + wrap(printable("-> " + finding.next_step), 4, 7, style) + "\n";
  }
  return text + skipped_text(night) + hooks_text(night);
}

}  // namespace bench
