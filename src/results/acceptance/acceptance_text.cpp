#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "results/acceptance/acceptance_output.h"
#include "results/acceptance/peers.h"
#include "results/reports/text_style.h"

namespace bench {
namespace {

constexpr std::size_t kMostReasons = 6;

Cell verdict_cell(Verdict verdict) { return {in_capitals(verdict), paint_of(verdict)}; }

std::string of_limit_text(const HostAcceptance& host) {
  double least = kNoValue;
  for (const HostMetric& row : host.metrics) least = std::fmin(least, row.of_limit);
  return std::isfinite(least) ? format(least, Unit::ratio) : "";
}

const HostMetric* worst_metric(const HostAcceptance& host) {
  const HostMetric* worst = nullptr;
  for (const HostMetric& row : host.metrics)
    if (std::isfinite(row.loss) &&
        (worst == nullptr || row.loss / row.threshold > worst->loss / worst->threshold))
      worst = &row;
  return worst;
}

void add_host(Table& table, const HostAcceptance& host) {
  const HostMetric* worst = worst_metric(host);
  std::size_t passed = 0;
  for (const HostMetric& row : host.metrics) passed += row.verdict == Verdict::pass ? 1 : 0;
  table.add({{printable(host.host), Paint::bold},
             verdict_cell(host.verdict),
             {fmt::format("{} of {}", passed, host.metrics.size())},
             {worst == nullptr ? "" : printable(worst->metric)},
             {worst == nullptr ? "" : loss_text(worst->loss)},
             {worst == nullptr ? "" : fmt::format("{:.1f} %", 100.0 * worst->threshold)},
             {of_limit_text(host)}});
}

std::string reasons_text(const HostAcceptance& host, const TextStyle& style) {
  std::string text;
  std::set<std::string> said;
  std::size_t shown = 0;
  for (const Reason& reason : host.reasons) {
    if (!said.insert(reason.text).second) continue;
    if (++shown > kMostReasons) continue;
    const std::string head = fmt::format("  {} [{}] ", in_capitals(reason.verdict), reason.gate);
    text += paint(head, paint_of(reason.verdict), style) +
            wrap(printable(reason.text), head.size(), 6, style) + "\n";
    if (!reason.next_step.empty())
      text += "      " + wrap(printable("-> " + reason.next_step), 6, 9, style) + "\n";
  }
  if (shown > kMostReasons)
    text += fmt::format("  and {} more (see --json)\n", shown - kMostReasons);
  return text.empty() ? "" : paint(printable(host.host), Paint::bold, style) + "\n" + text;
}

/// Summary of the hardware error counters of all hosts.
std::string counters_text(const Acceptance& acceptance) {
  std::size_t hosts = 0, watched = 0, passed = 0, few = 0;
  for (const HostAcceptance& host : acceptance.hosts) {
    hosts += host.counters.empty() ? 0 : 1;
    watched += host.counters.size();
    for (const HostCounter& counter : host.counters) {
      passed += counter.verdict == Verdict::pass ? 1 : 0;
      few += counter.rule->kind == CounterKind::rate && !counter.verdict ? 1 : 0;
    }
  }
  if (watched == 0) return "";
  return fmt::format(
      "error counters: {} on {} of {} hosts; {} pass, {} with too little traffic to judge\n",
      watched, hosts, acceptance.hosts.size(), passed, few);
}

}  // namespace

std::string in_capitals(Verdict verdict) {
  std::string word(to_string(verdict));
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return word;
}

std::string to_text(const Acceptance& acceptance, const TextStyle& style) {
  Table table({{"host", false},
               {"verdict", false},
               {"passed"},
               {"worst metric", false},
               {"against peers"},
               {"tolerance"},
               {"lowest share of limit", true, 1}});
  for (const HostAcceptance& host : acceptance.hosts) add_host(table, host);
  std::string text = table.render(0, style) + "\n";
  for (const HostAcceptance& host : acceptance.hosts) text += reasons_text(host, style);
  for (const LinkAcceptance& link : acceptance.links)
    text += "link " + wrap(printable(link.reason.text), 5, 6, style) + "\n";
  text += localisation_text(acceptance.localisations, style);
  text += counters_text(acceptance);
  for (const std::string& one : acceptance.not_covered)
    text += paint("not covered: ", Paint::dim, style) + wrap(printable(one), 13, 6, style) + "\n";
  text += fmt::format(
      "\n{} ({} {}{})\n",
      paint(in_capitals(acceptance.verdict), paint_of(acceptance.verdict), style),
      acceptance.runs.size() == 1 ? "run" : "runs",
      acceptance.runs.empty() ? "" : acceptance.runs.front(),
      acceptance.runs.size() > 1 ? fmt::format(" and {} more", acceptance.runs.size() - 1) : "");
  return text;
}

std::string short_reason(const HostAcceptance& host, std::size_t most) {
  if (host.reasons.empty()) return "";
  const Reason& reason = host.reasons.front();
  std::string text = "benchctl accept: " + reason.gate + ": " + reason.text;
  std::string plain;
  for (const char c : printable(text)) plain += c == '\n' || c == '"' || c == '\'' ? ' ' : c;
  if (plain.size() > most) plain = plain.substr(0, most - 3) + "...";
  return plain;
}

}  // namespace bench
