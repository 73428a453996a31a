// Certificates as self-contained HTML: no scripts, no external resources, printable.
#include <fmt/format.h>

#include <cmath>

#include "core/json_text.h"
#include "core/text.h"
#include "results/acceptance/acceptance_output.h"
#include "results/acceptance/markup.h"
#include "results/reports/dimensions.h"

namespace bench {
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
