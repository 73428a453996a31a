#include "results/output/verdicts/acceptance_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/junit.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/localisation_output.h"
#include "results/run/dimensions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

/// Each passing metric and counter is a passing test; each reason is a failing one.
JunitSuite suite_of(const Acceptance& acceptance, const HostAcceptance& host) {
  JunitSuite suite{.name = host.host, .id = {}, .time_ns = acceptance.time_ns, .host = host.host};
  for (const HostMetric& row : host.metrics)
    if (row.verdict == Verdict::pass)
      suite.tests.push_back(
          {host.host, row.case_name + ": " + with_dimensions(row.metric, row.params)});
  for (const HostCounter& counter : host.counters)
    if (counter.verdict == Verdict::pass)
      suite.tests.push_back(
          {host.host, fmt::format("counters: {} ({})", counter.rule->counter,
                                  counter.device.empty() ? "host" : counter.device)});
  for (const Reason& reason : host.reasons)
    suite.tests.push_back(
        {.group = host.host,
         .name = with_dimensions(reason.gate + (reason.metric.empty() ? "" : ": " + reason.metric),
                                 reason.params),
         .kind = reason.verdict == Verdict::fail ? JunitKind::failure : JunitKind::error,
         .why = reason.text,
         .type = reason.gate,
         .explanation = reason.next_step});
  return suite;
}

}  // namespace

std::string to_junit(const Acceptance& acceptance) {
  JunitReport report("accept");
  for (const HostAcceptance& host : acceptance.hosts) report.add(suite_of(acceptance, host));
  return report.text();
}

std::string short_reason(const HostAcceptance& host, std::size_t most) {
  if (host.reasons.empty()) return "";
  const Reason& reason = host.reasons.front();
  constexpr std::string_view kBy = " (benchctl accept)";
  std::string plain;
  for (const char c : printable(reason.gate + ": " + reason.text))
    plain += c == '\n' || c == '"' || c == '\'' ? ' ' : c;
  if (plain.size() + kBy.size() > most) plain = plain.substr(0, most - kBy.size() - 3) + "...";
  return plain.append(kBy);
}

namespace {

/// The metric with the greatest loss for its tolerance; an empty one if none was compared.
HostMetric worst_metric(const HostAcceptance& host) {
  HostMetric worst;
  for (const HostMetric& row : host.metrics)
    if (std::isfinite(row.loss) &&
        !(row.loss / row.threshold <= worst.loss / worst.threshold))  // also for NaN
      worst = row;
  return worst;
}

double lowest_share_of_limit(const HostAcceptance& host) {
  double least = kNoValue;
  for (const HostMetric& row : host.metrics) least = std::fmin(least, row.of_limit);
  return least;
}

DocumentTable hosts_table(const Acceptance& acceptance) {
  DocumentTable table{{{"host", false},
                       {"verdict", false},
                       {"passed"},
                       {"worst metric", false},
                       {"against peers"},
                       {"tolerance"},
                       {"lowest share of limit", true, 1},
                       {"first reason", false, kPageOnly}}};
  for (const HostAcceptance& host : acceptance.hosts) {
    const HostMetric worst = worst_metric(host);
    const auto passed = std::ranges::count(host.metrics, Verdict::pass, &HostMetric::verdict);
    table.rows.push_back(
        {{.text = host.host, .tone = Tone::strong, .link = host.host + ".html"},
         verdict_cell(host.verdict),
         {fmt::format("{} of {}", passed, host.metrics.size()), static_cast<double>(passed)},
         {worst.metric},
         numeric(worst.loss, loss_text(worst.loss)),
         share_cell(worst.threshold),
         value_cell(lowest_share_of_limit(host), Unit::ratio),
         {host.reasons.empty() ? "" : host.reasons.front().text}});
  }
  return table;
}

ListItem reason_item(const Reason& reason, const std::string& where = "") {
  ListItem item{
      {{{fmt::format("{}{} [{}] ", where, to_upper(to_string(reason.verdict)), reason.gate),
         tone_of(reason.verdict)},
        {reason.text}}}};
  if (!reason.next_step.empty()) item.details.push_back("-> " + reason.next_step);
  return item;
}

/// "FAIL [peers] ..." and what to do; each text once.
ItemList reasons_list(const std::vector<Reason>& reasons) {
  ItemList list{.items = {}, .most = 6};
  std::set<std::string> known;
  for (const Reason& reason : reasons)
    if (known.insert(reason.text).second) list.items.push_back(reason_item(reason));
  return list;
}

/// What is open on a host that fails often follows from its fault: counted only.
ItemList reasons_list(const HostAcceptance& host) {
  if (host.verdict != Verdict::fail) return reasons_list(host.reasons);
  std::vector<Reason> faults;
  std::set<std::string> open;
  for (const Reason& reason : host.reasons)
    if (reason.verdict == Verdict::fail)
      faults.push_back(reason);
    else
      open.insert(reason.text);
  ItemList list = reasons_list(faults);
  if (!open.empty())
    list.items.push_back({fmt::format(
        "{} more could not be judged because of the fault; --json lists them", open.size())});
  return list;
}

std::size_t count_of(const Acceptance& acceptance, Verdict verdict) {
  return static_cast<std::size_t>(
      std::ranges::count(acceptance.hosts, verdict, &HostAcceptance::verdict));
}

/// "1 of 6 hosts failed, 5 passed"
std::string hosts_words(const Acceptance& acceptance) {
  const std::size_t all = acceptance.hosts.size();
  const std::size_t failed = count_of(acceptance, Verdict::fail);
  const std::size_t open = count_of(acceptance, Verdict::inconclusive);
  const std::size_t passed = all - failed - open;
  std::vector<std::string> parts;
  if (failed > 0) parts.push_back(fmt::format("{} of {} hosts failed", failed, all));
  if (passed > 0 || all == 0)
    parts.push_back(failed > 0 ? fmt::format("{} passed", passed)
                               : fmt::format("{} of {} hosts passed", passed, all));
  if (open > 0)
    parts.push_back(parts.empty() ? fmt::format("none of {} hosts could be judged", all)
                                  : fmt::format("{} could not be judged", open));
  if (const std::size_t links = acceptance.links.size(); links > 0)
    parts.push_back(fmt::format("{} slow link{}", links, links == 1 ? "" : "s"));
  return join(parts, ", ");
}

/// The first reason of the hosts that did not pass, failed ones first.
ItemList worst_hosts(const Acceptance& acceptance) {
  constexpr std::size_t kWorst = 3;
  ItemList list;
  std::set<std::string> known;
  for (const Verdict verdict : {Verdict::fail, Verdict::inconclusive})
    for (const HostAcceptance& host : acceptance.hosts)
      if (host.verdict == verdict && list.items.size() < kWorst && !host.reasons.empty() &&
          known.insert(host.reasons.front().text).second)
        list.items.push_back(reason_item(host.reasons.front(), host.host + ": "));
  return list;
}

ItemList unresolved_list(const Acceptance& acceptance) {
  ItemList list{.items = {}, .most = 6};
  for (const Unresolved& one : acceptance.unresolved)
    list.items.push_back({one.text, {"-> " + one.next_step}});
  return list;
}

/// Summary of the hardware error counters of all hosts.
std::string counters_words(const Acceptance& acceptance) {
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
      "error counters: {} on {} of {} hosts; {} pass, {} with too little traffic to judge", watched,
      hosts, acceptance.hosts.size(), passed, few);
}

/// "(runs 20261120T183005Z-demo-0001 and 2 more)"
std::string runs_words(const std::vector<std::string>& runs) {
  if (runs.size() < 2) return " (run " + join(runs, "") + ")";
  return fmt::format(" (runs {} and {} more)", runs.front(), runs.size() - 1);
}

Paragraph origin(const Acceptance& acceptance) {
  return {fmt::format("Suite {}, {}; runs {}.", acceptance.suite, format_time(acceptance.time_ns),
                      join(acceptance.runs, ", "))};
}

void add_list(Document& document, const std::string& title, const std::vector<std::string>& lines) {
  if (!lines.empty()) document.add(Heading{title}).add(lines_of(lines));
}

}  // namespace

Document to_document(const Acceptance& acceptance) {
  Document document{.title = fmt::format("Acceptance of {} hosts", acceptance.hosts.size()),
                    .badge = verdict_cell(acceptance.verdict),
                    .interactive = false};
  document
      .add(Paragraph{{{{to_upper(to_string(acceptance.verdict)), tone_of(acceptance.verdict)},
                       {": " + hosts_words(acceptance)}}}})
      .add(origin(acceptance), Audience::page);
  if (ItemList worst = worst_hosts(acceptance); !worst.items.empty())
    document.add(std::move(worst));
  document.add(hosts_table(acceptance));
  if (!acceptance.unresolved.empty())
    document.add(Heading{"Not resolved here"}).add(unresolved_list(acceptance));
  for (const HostAcceptance& host : acceptance.hosts)
    if (!host.reasons.empty())
      document.add(Heading{host.host}, Audience::terminal)
          .add(reasons_list(host), Audience::terminal);
  std::vector<Reason> links;
  for (const LinkAcceptance& link : acceptance.links) links.push_back(link.reason);
  if (!links.empty()) document.add(Heading{"Links"}).add(reasons_list(links));
  add_localisations(document, acceptance.localisations);
  if (const std::string counters = counters_words(acceptance); !counters.empty())
    document.add(Paragraph{counters});
  add_list(document, "Not covered", acceptance.not_covered);
  document.add(Paragraph{{{{to_upper(to_string(acceptance.verdict)), tone_of(acceptance.verdict)},
                           {": " + hosts_words(acceptance) + runs_words(acceptance.runs)}}}},
               Audience::terminal);
  return document;
}

namespace {

DocumentTable metrics_table(const HostAcceptance& host) {
  DocumentTable table{{{"metric", false},
                       {"value"},
                       {"limit"},
                       {"of limit"},
                       {"peers"},
                       {"against peers"},
                       {"loss at most"},
                       {"promised"},
                       {"runs"},
                       {"verdict", false}}};
  for (const HostMetric& row : host.metrics)
    table.rows.push_back({{.text = row.metric, .detail = dimension_list(row.params)},
                          value_cell(row.value, row.unit),
                          value_cell(row.limit, row.unit),
                          share_cell(row.of_limit),
                          value_cell(row.expected, row.unit),
                          share_cell(-row.loss),
                          share_cell(row.loss_at_most()),
                          share_cell(row.resolution),
                          count_cell(row.runs),
                          row.unresolved
                              ? DocumentCell{.text = "not resolved", .tone = Tone::unsure}
                              : verdict_cell(row.verdict)});
  return table;
}

DocumentCell error_ratio_cell(double ratio) { return numeric(ratio, fmt::format("{:.1e}", ratio)); }

DocumentTable counters_table(const HostAcceptance& host) {
  DocumentTable table{{{"device", false},
                       {"counter", false},
                       {"errors"},
                       {"traffic"},
                       {"bits"},
                       {"error ratio at most"},
                       {"allowed"},
                       {"verdict", false}}};
  for (const HostCounter* counter : relevant_counters(host)) {
    const CounterRule& rule = *counter->rule;
    table.rows.push_back(
        {{counter->device},
         {.text = std::string(rule.counter), .detail = std::string(rule.why)},
         counter->known ? numeric(counter->count, fmt::format("{:.10g}", counter->count))
                        : DocumentCell{"unknown"},
         value_cell(counter->bytes, Unit::byte),
         error_ratio_cell(counter->bits),
         error_ratio_cell(counter->upper),
         error_ratio_cell(rule.kind == CounterKind::rate ? rule.error_ratio : kNoValue),
         counter->verdict ? verdict_cell(*counter->verdict) : DocumentCell{"info"}});
  }
  return table;
}

FactList identity_facts(const HostAcceptance& host) {
  FactList facts;
  const Json known = identity(host);
  for (const auto& [key, value] : known.items()) {
    if (value.is_array()) continue;
    facts.rows.push_back({key, key == "memory_bytes" && value.is_number()
                                   ? format(Bytes{value.get<double>()})
                                   : text_of(value)});
  }
  for (const auto& [kind, label] : {std::pair{"gpus", "GPU"}, std::pair{"network", "network card"},
                                    std::pair{"infiniband", "InfiniBand card"}})
    for (const Json& part : array_field(known, kind)) facts.rows.push_back({label, dump(part)});
  return facts;
}

}  // namespace

Document certificate(const Acceptance& acceptance, const HostAcceptance& host) {
  Document document{.title = host.host + ": acceptance",
                    .badge = verdict_cell(host.verdict),
                    .interactive = false};
  document.add(origin(acceptance));
  if (!host.reasons.empty()) document.add(Heading{"Why"}).add(reasons_list(host));
  if (!host.metrics.empty()) document.add(Heading{"Metrics"}).add(metrics_table(host));
  if (DocumentTable counters = counters_table(host); !counters.rows.empty())
    document.add(Heading{"Error counters"})
        .add(Paragraph{
            fmt::format("{} counters read; zero counts without known traffic are omitted.",
                        host.counters.size())})
        .add(std::move(counters));
  document.add(Heading{"Identity"}).add(identity_facts(host));
  if (!acceptance.unresolved.empty())
    document.add(Heading{"Not resolved here"}).add(unresolved_list(acceptance));
  add_list(document, "Notes", host.notes);
  add_list(document, "Not covered", acceptance.not_covered);
  return document;
}

}  // namespace bench
