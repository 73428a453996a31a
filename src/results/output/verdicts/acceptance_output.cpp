#include "results/output/verdicts/acceptance_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "results/output/document/dot_plot.h"
#include "results/output/document/junit.h"
#include "results/output/document/plot.h"
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
        {{.text = host.host, .tone = Tone::strong, .link = safe_file_name(host.host) + ".html"},
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
  if (const std::size_t unresolved = acceptance.unresolved.size(); unresolved > 0)
    parts.push_back(
        fmt::format("{} metric{} not resolved", unresolved, unresolved == 1 ? "" : "s"));
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
        list.items.push_back({reason_item(host.reasons.front(), host.host + ": ").head});
  for (const LinkAcceptance& link : acceptance.links)
    if (list.items.size() < kWorst) list.items.push_back({reason_item(link.reason).head});
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

/// What to do with the hosts, by the worst verdict.
std::string next_step_of(const Acceptance& acceptance) {
  if (acceptance.verdict == Verdict::pass)
    return acceptance.unresolved.empty()
               ? "put the hosts into service"
               : "put the hosts into service, or quiet the place and repeat what is not resolved";
  const Verdict worst = acceptance.verdict;
  for (const HostAcceptance& host : acceptance.hosts)
    for (const Reason& reason : host.reasons)
      if (reason.verdict == worst && !reason.next_step.empty())
        return host.host + ": " + reason.next_step;
  for (const LinkAcceptance& link : acceptance.links)
    if (link.reason.verdict == worst)
      return link.a + " and " + link.b + ": " + link.reason.next_step;
  return "";
}

Headline headline_of(const Acceptance& acceptance) {
  return {to_upper(to_string(acceptance.verdict)), tone_of(acceptance.verdict),
          hosts_words(acceptance), worst_hosts(acceptance), next_step_of(acceptance)};
}

/// "10 %", "5 % to 10 %": the losses that these rows exclude; "" for none.
std::string excluded_words(const std::vector<HostMetric>& rows) {
  double least = kNoValue, most = kNoValue;
  for (const HostMetric& row : rows) {
    if (row.verdict != Verdict::pass || !std::isfinite(row.loss)) continue;
    least = std::fmin(least, row.resolution);
    most = std::fmax(most, row.resolution);
  }
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100.0 * share); };
  if (!std::isfinite(least)) return "";
  return percent(least) == percent(most) ? percent(least) : percent(least) + " to " + percent(most);
}

Cards cards_of(const Acceptance& acceptance) {
  const auto card = [&](const char* label, Verdict verdict, Tone tone) {
    const std::size_t count = count_of(acceptance, verdict);
    return SummaryCard{label, std::to_string(count),
                       fmt::format("of {} hosts", acceptance.hosts.size()),
                       count > 0 ? tone : Tone::none};
  };
  Cards cards{{card("Passed", Verdict::pass, Tone::good), card("Failed", Verdict::fail, Tone::bad),
               card("Not judged", Verdict::inconclusive, Tone::unsure)}};
  if (!acceptance.pairs.empty()) {
    const std::size_t slow = acceptance.links.size();
    cards.cards.push_back({"Slow links", std::to_string(slow), "between healthy hosts",
                           slow > 0 ? Tone::bad : Tone::none});
  }
  if (!acceptance.unresolved.empty())
    cards.cards.push_back({"Not resolved", std::to_string(acceptance.unresolved.size()),
                           "metrics, as they scatter too much here", Tone::unsure});
  return cards;
}

/// Metrics of all hosts in the order of the first host that has them; their rows, by host.
struct MetricOfHosts {
  std::string title;
  std::string label = {};               // shorter, as short_names()
  std::vector<const HostMetric*> rows;  // as acceptance.hosts; null if a host has none
};

std::vector<MetricOfHosts> metrics_of(const Acceptance& acceptance) {
  std::vector<MetricOfHosts> metrics;
  std::vector<std::pair<std::string, Json>> keys;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < acceptance.hosts.size(); ++i)
    for (const HostMetric& row : acceptance.hosts[i].metrics) {
      const std::string title = with_dimensions(row.metric, row.params);
      const auto [place, is_new] = places.emplace(row.case_name + ": " + title, metrics.size());
      if (is_new)
        metrics.push_back({title, "", std::vector<const HostMetric*>(acceptance.hosts.size())});
      if (is_new) keys.emplace_back(row.metric, row.params);
      metrics[place->second].rows[i] = &row;
    }
  const std::vector<std::string> labels = short_names(keys);
  for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i].label = labels[i];
  return metrics;
}

double worst_loss(const MetricOfHosts& metric) {
  double worst = -HUGE_VAL;
  for (const HostMetric* row : metric.rows)
    if (row != nullptr) worst = std::fmax(worst, row->loss / row->threshold);
  return worst;
}

constexpr std::size_t kMostDrawnMetrics = 16;
constexpr double kMapReach = 3.0;  // tolerances

/// Each metric over the hosts, the one with the greatest loss first.
std::string distribution(const Acceptance& acceptance, std::vector<MetricOfHosts> metrics) {
  std::ranges::stable_sort(metrics, std::greater<>(), worst_loss);
  if (metrics.size() > kMostDrawnMetrics) metrics.resize(kMostDrawnMetrics);
  DotPlot plot{"Each dot is a host", "against the median of its peers, % (left is worse)", {}};
  for (const MetricOfHosts& metric : metrics) {
    DotRow row{.name = metric.title, .dots = {}, .label = metric.label};
    for (std::size_t i = 0; i < metric.rows.size(); ++i) {
      const HostMetric* one = metric.rows[i];
      if (one == nullptr) continue;
      row.dots.push_back(
          {acceptance.hosts[i].host, -100.0 * one->loss, one->verdict == Verdict::fail});
      row.low = -100.0 * one->threshold;
      row.high = 100.0 * one->threshold;
    }
    plot.rows.push_back(std::move(row));
  }
  return to_svg(plot);
}

std::string hosts_map(const Acceptance& acceptance, const std::vector<MetricOfHosts>& metrics) {
  constexpr std::size_t kMostColumns = 40;
  HeatMap map{"Hosts against their peers, in tolerances", {}, {}, {}, 0.0, kMapReach};
  const std::size_t columns = std::min(metrics.size(), kMostColumns);
  for (std::size_t j = 0; j < columns; ++j) map.columns.push_back(metrics[j].label);
  for (std::size_t i = 0; i < acceptance.hosts.size(); ++i) {
    map.rows.push_back(acceptance.hosts[i].host);
    std::vector<double> values;
    for (std::size_t j = 0; j < columns; ++j) {
      const HostMetric* row = metrics[j].rows[i];
      values.push_back(row == nullptr ? kNoValue : -row->loss / row->threshold);
    }
    map.values.push_back(std::move(values));
  }
  return to_svg(map);
}

constexpr std::size_t kMostPairedHosts = 100;

/// A host a row and a host a column; of many hosts those with the worst pairs.
std::string pairs_map(const PairMatrix& matrix) {
  std::vector<const PairMatrix::Pair*> worst;
  for (const PairMatrix::Pair& pair : matrix.pairs) worst.push_back(&pair);
  std::ranges::stable_sort(worst, std::greater<>(), &PairMatrix::Pair::loss);
  std::set<std::string> hosts;
  for (const PairMatrix::Pair* pair : worst)
    if (hosts.size() + 1 < kMostPairedHosts) hosts.insert({pair->a, pair->b});
  HeatMap map{matrix.metric + " between two hosts, in tolerances", {}, {}, {}, 0.0, kMapReach};
  map.rows.assign(hosts.begin(), hosts.end());
  map.columns = map.rows;
  map.values.assign(map.rows.size(), std::vector<double>(map.rows.size(), kNoValue));
  const auto place = [&](const std::string& host) {
    return static_cast<std::size_t>(std::ranges::lower_bound(map.rows, host) - map.rows.begin());
  };
  for (const PairMatrix::Pair& pair : matrix.pairs) {
    if (!hosts.contains(pair.a) || !hosts.contains(pair.b)) continue;
    const std::size_t a = place(pair.a), b = place(pair.b);
    map.values[a][b] = map.values[b][a] = -pair.loss / matrix.threshold;
  }
  return to_svg(map);
}

void add_figures(Document& document, const Acceptance& acceptance) {
  constexpr std::size_t kMostMatrices = 3;
  const auto metrics = metrics_of(acceptance);
  if (acceptance.hosts.size() < 2 || metrics.empty()) return;
  document.add(Heading{"Hosts compared"}, Audience::page)
      .add(Figure{distribution(acceptance, metrics),
                  "Grey: within the tolerance. Orange, with names: failed in this metric."})
      .add(Figure{hosts_map(acceptance, metrics),
                  "Orange: slower than the peers. Blue: faster. Grey: not measured, or alike."});
  for (std::size_t i = 0; i < std::min(acceptance.pairs.size(), kMostMatrices); ++i)
    document.add(Figure{pairs_map(acceptance.pairs[i]),
                        fmt::format("A slow host is an orange row and column, a slow link two "
                                    "cells. Of more than {} hosts those with the slowest pairs.",
                                    kMostPairedHosts)});
}

}  // namespace

Document to_document(const Acceptance& acceptance) {
  Document document{.title = fmt::format("Acceptance of {} hosts", acceptance.hosts.size())};
  document.add(headline_of(acceptance)).add(cards_of(acceptance), Audience::page);
  add_figures(document, acceptance);
  document.add(Heading{"Hosts"}, Audience::page).add(hosts_table(acceptance));
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
    document.add(Heading{"Error counters"}, Audience::page).add(Paragraph{counters});
  add_list(document, "Not covered", acceptance.not_covered);
  document.add(Heading{"Origin", true}, Audience::page).add(origin(acceptance), Audience::page);
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

/// "passed 12 of 12 metrics", "failed: gemm.throughput, pairs".
std::string host_words(const HostAcceptance& host) {
  const auto passed = std::ranges::count(host.metrics, Verdict::pass, &HostMetric::verdict);
  std::set<std::string> failed;
  for (const Reason& reason : host.reasons)
    if (reason.verdict == Verdict::fail)
      failed.insert(reason.metric.empty() ? reason.gate : reason.metric);
  const std::string words = fmt::format("{} of {} metrics passed", passed, host.metrics.size());
  if (failed.empty()) return words;
  return "failed in " + join({failed.begin(), failed.end()}, ", ") + "; " + words;
}

Headline headline_of(const HostAcceptance& host) {
  Headline headline{to_upper(to_string(host.verdict)), tone_of(host.verdict), host_words(host)};
  for (const Reason& reason : host.reasons)
    if (headline.next_step.empty()) headline.next_step = reason.next_step;
  if (const std::string excluded = excluded_words(host.metrics); !excluded.empty())
    headline.text += fmt::format("; in these, losses above {} are excluded with 95 %", excluded);
  if (const auto open = std::ranges::count(host.metrics, true, &HostMetric::unresolved); open > 0)
    headline.text += fmt::format("; {} not resolved", open);
  return headline;
}

Cards cards_of(const Acceptance& acceptance, const HostAcceptance& host) {
  const HostMetric worst = worst_metric(host);
  Cards cards;
  if (!worst.metric.empty())
    cards.cards.push_back({"Furthest behind its peers", loss_text(worst.loss), worst.metric,
                           worst.verdict == Verdict::fail ? Tone::bad : Tone::none});
  if (const double share = lowest_share_of_limit(host); std::isfinite(share))
    cards.cards.push_back(
        {"Lowest share of a limit", format(share, Unit::ratio), "of what the hardware allows"});
  cards.cards.push_back({"Suite", acceptance.suite, format_time(acceptance.time_ns).substr(0, 10)});
  return cards;
}

}  // namespace

Document certificate(const Acceptance& acceptance, const HostAcceptance& host) {
  Document document{
      .title = host.host + ": acceptance",
      .parents = {{fmt::format("Acceptance of {} hosts", acceptance.hosts.size()), "index.html"}}};
  document.add(headline_of(host)).add(cards_of(acceptance, host), Audience::page);
  if (!host.reasons.empty()) document.add(Heading{"Evidence"}).add(reasons_list(host));
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
  return document.add(Heading{"Origin", true}).add(origin(acceptance));
}

}  // namespace bench
