// Certificates as self-contained HTML: no scripts, no external resources, printable.
#include "results/output/verdicts/acceptance_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/markup.h"
#include "results/output/document/text_style.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/localisation_text.h"
#include "results/run/dimensions.h"
#include "results/stats/peers.h"

namespace bench {

Json rma_packet(const Acceptance& acceptance, const HostAcceptance& host,
                const std::string& reproduce) {
  const Json whole = to_json(host);
  Json packet = {{"host", host.host},
                 {"verdict", to_string(host.verdict)},
                 {"time", format_time(acceptance.time_ns)},
                 {"suite", acceptance.suite},
                 {"runs", acceptance.runs},
                 {"identity", whole.at("identity")},
                 {"metrics", whole.at("metrics")},
                 {"counters", whole.at("counters")},
                 {"evidence", Json::array()},
                 {"facts", host.facts},
                 {"reproduce", reproduce}};
  for (const Json& reason : whole.at("reasons"))
    if (reason.at("verdict") == "fail") packet["evidence"].push_back(reason);
  return packet;
}

std::string to_text(const Json& packet) {
  std::string text = "Host " + text_field(packet, "host") + " failed acceptance on " +
                     text_field(packet, "time") + ".\n\nIdentity\n";
  for (const auto& [key, value] : object_field(packet, "identity").items())
    text += "  " + key + ": " + text_of(value) + "\n";
  text += "\nEvidence\n";
  for (const Json& reason : array_field(packet, "evidence"))
    text += "  [" + text_field(reason, "gate") + "] " + text_field(reason, "text") + "\n";
  text += "\nReproduce\n  " + text_field(packet, "reproduce") + "\n\nRecords\n";
  for (const Json& run : array_field(packet, "runs"))
    text += "  run " + run.get<std::string>() + "\n";
  return text;
}

namespace {

std::string verdict_element(const Reason& reason) {
  return fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>",
                     reason.verdict == Verdict::fail ? "failure" : "error", escaped(reason.gate),
                     escaped(reason.text), escaped(reason.next_step));
}

std::string test_case(const std::string& host, const std::string& name, const std::string& inside) {
  return fmt::format("  <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", escaped(host),
                     escaped(name), inside);
}

struct Counts {
  int tests = 0, failures = 0, errors = 0;
};

/// Each passing metric is a passing case; each reason is a failing one.
std::string cases_of(const HostAcceptance& host, Counts& counts) {
  std::string text;
  for (const HostMetric& row : host.metrics) {
    if (row.verdict != Verdict::pass) continue;
    ++counts.tests;
    const std::string list = dimension_list(row.params);
    text += test_case(
        host.host, row.case_name + ": " + row.metric + (list.empty() ? "" : " (" + list + ")"), "");
  }
  for (const HostCounter& counter : host.counters) {
    if (counter.verdict != Verdict::pass) continue;
    ++counts.tests;
    text += test_case(host.host,
                      fmt::format("counters: {} ({})", counter.rule->counter,
                                  counter.device.empty() ? "host" : counter.device),
                      "");
  }
  for (const Reason& reason : host.reasons) {
    ++counts.tests;
    ++(reason.verdict == Verdict::fail ? counts.failures : counts.errors);
    text += test_case(host.host,
                      reason.gate + (reason.metric.empty() ? "" : ": " + reason.metric) +
                          (reason.params.empty() ? "" : " (" + dimension_list(reason.params) + ")"),
                      verdict_element(reason));
  }
  return text;
}

}  // namespace

std::string to_junit(const Acceptance& acceptance) {
  std::string suites;
  Counts all;
  for (const HostAcceptance& host : acceptance.hosts) {
    Counts counts;
    const std::string cases = cases_of(host, counts);
    suites += fmt::format(
        " <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\" skipped=\"0\">\n{} </testsuite>\n",
        escaped(host.host), escaped(host.host), format_time(acceptance.time_ns), counts.tests,
        counts.failures, counts.errors, cases);
    all = {all.tests + counts.tests, all.failures + counts.failures, all.errors + counts.errors};
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"accept\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      all.tests, all.failures, all.errors, suites);
}

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

namespace {

constexpr const char* kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff;max-width:70em;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:1.6em 0 .4em}
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.25em .6em;text-align:left;vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.v{font-weight:700;padding:.1em .5em;border:2px solid;white-space:nowrap}
.pass{color:#0a6b2b}.fail{color:#b00020}.inconclusive{color:#8a5a00}
.s{color:#555}tr{break-inside:avoid}thead{display:table-header-group}
@media print{body{margin:0;max-width:none;font-size:10pt}a{color:inherit;text-decoration:none}}
@page{margin:15mm})";

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"v {}\">{}</span>", to_string(verdict), in_capitals(verdict));
}

std::string number(double value, Unit unit) {
  return std::isfinite(value) ? escaped(format(value, unit)) : "";
}

std::string percent_html(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}&nbsp;%", 100.0 * share) : "";
}

std::string reasons_html(const std::vector<Reason>& reasons) {
  if (reasons.empty()) return "";
  std::string rows;
  for (const Reason& reason : reasons)
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}{}</td></tr>\n", badge(reason.verdict),
                        escaped(reason.gate), escaped(reason.text),
                        reason.next_step.empty()
                            ? ""
                            : "<br><span class=\"s\">" + escaped(reason.next_step) + "</span>");
  return "<h2>Why</h2>\n<table><thead><tr><th>verdict</th><th>gate</th><th>evidence and next "
         "step</th></tr></thead>\n<tbody>" +
         rows + "</tbody></table>\n";
}

std::string metrics_html(const HostAcceptance& host) {
  if (host.metrics.empty()) return "";
  std::string rows;
  for (const HostMetric& row : host.metrics)
    rows += fmt::format(
        "<tr><td>{}<br><span class=\"s\">{}</span></td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        escaped(row.metric), escaped(dimension_list(row.params)), number(row.value, row.unit),
        number(row.limit, row.unit), percent_html(row.of_limit), number(row.expected, row.unit),
        percent_html(-row.loss), percent_html(row.half), percent_html(row.threshold), row.runs,
        badge(row.verdict));
  return "<h2>Metrics</h2>\n<table><thead><tr><th>metric</th><th class=\"n\">value</th>"
         "<th class=\"n\">limit</th><th class=\"n\">of limit</th><th class=\"n\">peers</th>"
         "<th class=\"n\">against peers</th><th class=\"n\">&plusmn;</th>"
         "<th class=\"n\">tolerance</th><th "
         "class=\"n\">runs</th><th>verdict</th></tr></thead>\n<tbody>" +
         rows + "</tbody></table>\n";
}

std::string ratio(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : ""; }

std::string counters_html(const HostAcceptance& host) {
  std::string rows;
  for (const HostCounter* counter : relevant_counters(host)) {
    const CounterRule& rule = *counter->rule;
    rows += fmt::format(
        "<tr><td>{}</td><td>{}<br><span class=\"s\">{}</span></td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td>{}</td></tr>\n",
        escaped(counter->device), escaped(rule.counter), escaped(rule.why),
        counter->known ? fmt::format("{:.10g}", counter->count) : "unknown",
        number(counter->bytes, Unit::byte), ratio(counter->bits), ratio(counter->upper),
        rule.kind == CounterKind::rate ? ratio(rule.error_ratio) : "",
        counter->verdict ? badge(*counter->verdict) : "info");
  }
  if (rows.empty()) return "";
  return fmt::format(
      "<h2>Error counters</h2>\n<p class=\"s\">{} counters read; zero counts without known traffic "
      "are omitted.</p>\n<table><thead><tr><th>device</th><th>counter</th><th "
      "class=\"n\">errors</th><th class=\"n\">traffic</th><th class=\"n\">bits</th><th "
      "class=\"n\">error ratio at most</th><th "
      "class=\"n\">allowed</th><th>verdict</th></tr></thead>"
      "\n<tbody>{}</tbody></table>\n",
      host.counters.size(), rows);
}

std::string identity_html(const HostAcceptance& host) {
  std::string rows;
  const Json known = identity(host);
  for (const auto& [key, value] : known.items()) {
    if (key == "gpus") continue;
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(key),
                        key == "memory_bytes" && value.is_number()
                            ? escaped(format(Bytes{value.get<double>()}))
                            : escaped(text_of(value)));
  }
  for (const Json& gpu : array_field(known, "gpus"))
    rows += fmt::format("<tr><td>GPU</td><td>{}</td></tr>\n", escaped(dump(gpu)));
  return "<h2>Identity</h2>\n<table><tbody>" + rows + "</tbody></table>\n";
}

std::string list_html(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string list;
  for (const std::string& item : items) list += "<li>" + escaped(item) + "</li>\n";
  return "<h2>" + title + "</h2>\n<ul>" + list + "</ul>\n";
}

std::string header(const Acceptance& acceptance, const std::string& title, Verdict verdict) {
  return fmt::format("<h1>{} {}</h1>\n<p>Suite {}, {}; runs {}.</p>\n", escaped(title),
                     badge(verdict), escaped(acceptance.suite), format_time(acceptance.time_ns),
                     escaped(join(acceptance.runs, ", ")));
}

std::string first_reason(const HostAcceptance& host) {
  return host.reasons.empty() ? "" : escaped(host.reasons.front().text);
}

}  // namespace

std::string to_html(const Acceptance& acceptance, const HostAcceptance& host) {
  return html_page(host.host + ": acceptance", kStyle,
                   header(acceptance, host.host, host.verdict) + reasons_html(host.reasons) +
                       metrics_html(host) + counters_html(host) + identity_html(host) +
                       list_html("Notes", host.notes) +
                       list_html("Not covered", acceptance.not_covered));
}

std::string to_html(const Acceptance& acceptance) {
  std::string rows;
  for (const HostAcceptance& host : acceptance.hosts)
    rows += fmt::format(
        "<tr><td><a href=\"{0}.html\">{0}</a></td><td>{1}</td><td "
        "class=\"n\">{2}</td><td>{3}</td></tr>\n",
        escaped(host.host), badge(host.verdict), host.metrics.size(), first_reason(host));
  std::vector<Reason> links;
  for (const LinkAcceptance& link : acceptance.links) links.push_back(link.reason);
  const std::string title = "Acceptance of " + std::to_string(acceptance.hosts.size()) + " hosts";
  return html_page(title, kStyle,
                   header(acceptance, title, acceptance.verdict) +
                       "<table><thead><tr><th>host</th><th>verdict</th><th class=\"n\">metrics</th>"
                       "<th>first reason</th></tr></thead>\n<tbody>" +
                       rows + "</tbody></table>\n" +
                       (links.empty() ? "" : "<h2>Links</h2>\n" + reasons_html(links)) +
                       list_html("Not covered", acceptance.not_covered));
}

}  // namespace bench
