#include "results/output/document/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "results/output/document/document.h"
#include "results/output/document/markup.h"

namespace bench {
namespace {

// Whatever got past the escaping could still load nothing and send nothing.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'";

constexpr std::size_t kLong = 32;  // bytes of a cell that may be broken into lines

// Light and dark are two sets of variables; print is always light. Verdicts differ by their words
// as well as by colour.
constexpr const char* kPageStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#111;--soft:#555;--rule:#ccc;--grid:#ddd;--good:#0a6b2b;--bad:#b00020;--unsure:#8a5a00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#2f93cc;--c5:#b57a00;--c6:#7f6f00;--c7:#555;--none:#bbb}
@media(prefers-color-scheme:dark){:root:not([data-look=light]){--paper:#15181c;--ink:#e8e8e8;--soft:#a8adb3;--rule:#3a4047;--grid:#2b3036;--good:#5fd08a;--bad:#ff7a85;--unsure:#f0b95a;
--c0:#56b4e9;--c1:#ff8c42;--c2:#35c79a;--c3:#e79ac8;--c4:#8ecbf0;--c5:#f0b840;--c6:#d6c840;--c7:#bbb;--none:#555}}
:root[data-look=light]{color-scheme:light}
:root[data-look=dark]{color-scheme:dark;--paper:#15181c;--ink:#e8e8e8;--soft:#a8adb3;--rule:#3a4047;--grid:#2b3036;--good:#5fd08a;--bad:#ff7a85;--unsure:#f0b95a;
--c0:#56b4e9;--c1:#ff8c42;--c2:#35c79a;--c3:#e79ac8;--c4:#8ecbf0;--c5:#f0b840;--c6:#d6c840;--c7:#bbb;--none:#555}
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:76em;margin:1.5em auto;padding:0 1em;overflow-wrap:anywhere}
h1{font-size:1.5em;margin:0 0 .4em}h2{font-size:1.15em;margin:1.8em 0 .4em}
header{display:flex;justify-content:space-between;align-items:start;gap:1em}
.w{border-left:3px solid var(--unsure);padding-left:.8em}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:40%}
th,td{border-bottom:1px solid var(--rule);padding:.25em .5em;text-align:left;vertical-align:top;overflow-wrap:normal;white-space:nowrap}
td.l{white-space:normal;overflow-wrap:anywhere;min-width:18em}
thead th{position:sticky;top:0;background:var(--paper);white-space:nowrap}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
button,input{font:inherit;color:inherit;background:none;border:1px solid var(--rule);border-radius:4px;padding:.15em .6em}
th button{border:0;padding:0;font-weight:700;cursor:pointer}
th[aria-sort=ascending] button::after{content:" \25b2"}th[aria-sort=descending] button::after{content:" \25bc"}
.find{margin:.4em 0}.find span{color:var(--soft);margin-left:.6em}
.v{font-weight:700;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.unsure{color:var(--unsure)}.s{color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em}dt{color:var(--soft)}dd{margin:0}
figure{margin:1em 0}.fig{overflow:auto;max-height:85vh}figcaption{color:var(--soft);max-width:60em}
svg.plot{min-width:30em;max-width:100%;height:auto;fill:var(--ink)}
svg .grid{stroke:var(--grid)}svg .ink{stroke:var(--ink)}svg .rule{stroke:var(--bad)}svg .none{fill:var(--none)}
svg .s0{stroke:var(--c0);fill:var(--c0)}svg .s1{stroke:var(--c1);fill:var(--c1)}svg .s2{stroke:var(--c2);fill:var(--c2)}svg .s3{stroke:var(--c3);fill:var(--c3)}
svg .s4{stroke:var(--c4);fill:var(--c4)}svg .s5{stroke:var(--c5);fill:var(--c5)}svg .s6{stroke:var(--c6);fill:var(--c6)}svg .s7{stroke:var(--c7);fill:var(--c7)}
@media(max-width:40em){body{font-size:13px;padding:0 .6em}th,td{padding:.2em .4em}}
@media print{:root,:root[data-look=dark]{color-scheme:light;--paper:#fff;--ink:#111;--soft:#555;--rule:#ccc;--grid:#ddd;--good:#0a6b2b;--bad:#b00020;--unsure:#8a5a00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#2f93cc;--c5:#b57a00;--c6:#7f6f00;--c7:#555;--none:#bbb}
body{margin:0;max-width:none;font-size:10pt}header button,.find{display:none}.wide,.fig{overflow:visible;max-height:none}
tr,svg{break-inside:avoid}thead{display:table-header-group}thead th{position:static}}
@page{margin:15mm})";

// Cells without a number go last in either direction. The order of equal rows is kept, so that a
// click on one column after another sorts by both.
constexpr const char* kPageScript = R"(
'use strict';
(function () {
  function key(row, column) {
    var cell = row.cells[column];
    if (!cell) return null;
    var number = cell.getAttribute('data-s');
    if (number !== null) return Number(number);
    var text = cell.textContent;
    return text === '' ? null : text;
  }
  function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', {numeric: true});
  }
  function sort(head) {
    var table = head.closest('table'), column = head.cellIndex;
    var up = head.getAttribute('aria-sort') !== 'ascending';
    Array.prototype.forEach.call(head.parentNode.cells, function (other) {
      other.removeAttribute('aria-sort');
    });
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row) {
      return {row: row, key: key(row, column)};
    });
    rows.sort(function (a, b) {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return up ? compare(a.key, b.key) : compare(b.key, a.key);
    });
    var all = document.createDocumentFragment();
    rows.forEach(function (one) { all.appendChild(one.row); });
    body.appendChild(all);
  }
  function search(table) {
    var words = document.createElement('input'), count = document.createElement('span');
    words.type = 'search';
    words.placeholder = 'Only rows with\u2026';
    words.setAttribute('aria-label', 'Only rows with');
    function show() {
      var wanted = words.value.toLowerCase(), shown = 0, rows = table.tBodies[0].rows;
      Array.prototype.forEach.call(rows, function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        if (!row.hidden) shown += 1;
      });
      count.textContent = shown + ' of ' + rows.length + ' rows';
    }
    words.addEventListener('input', show);
    var line = document.createElement('div');
    line.className = 'find';
    line.appendChild(words);
    line.appendChild(count);
    table.parentNode.parentNode.insertBefore(line, table.parentNode);
    show();
  }
  function sorted_by_click(head) {
    var button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.textContent = '';
    head.appendChild(button);
    button.addEventListener('click', function () { sort(head); });
  }
  function look() {
    var root = document.documentElement, button = document.createElement('button');
    var dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    function name() { button.textContent = dark ? 'Light' : 'Dark'; }
    button.type = 'button';
    button.id = 'look';
    button.addEventListener('click', function () {
      dark = !dark;
      root.setAttribute('data-look', dark ? 'dark' : 'light');
      name();
    });
    name();
    document.querySelector('header').appendChild(button);
  }
  look();
  Array.prototype.forEach.call(document.querySelectorAll('table'), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, sorted_by_click);
    if (table.tBodies[0].rows.length > 12) search(table);
  });
})();
)";

/// CSS class of a tone; "" for none.
std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "v good";
    case Tone::bad:
      return "v bad";
    case Tone::unsure:
      return "v unsure";
    case Tone::strong:
      return "v";
    case Tone::faint:
      return "s";
    case Tone::none:
      break;
  }
  return "";
}

std::string toned(const std::string& text, Tone tone) {
  if (text.empty() || tone == Tone::none) return escaped(text);
  return fmt::format("<span class=\"{}\">{}</span>", class_of(tone), escaped(text));
}

std::string inline_html(const StyledText& text) {
  std::string html;
  for (const TextSpan& span : text.spans) html += toned(span.text, span.tone);
  return html;
}

std::string cell_html(const DocumentCell& cell) {
  if (std::isfinite(cell.bar))
    return fmt::format("<td><meter value={:.3g}></meter>", std::clamp(cell.bar, 0.0, 1.0));
  std::string text = toned(cell.text, cell.tone);
  // Only addresses next to the page: a scheme needs a colon.
  if (!cell.link.empty() && cell.link.find(':') == std::string::npos)
    text = fmt::format("<a href=\"{}\">{}</a>", escaped(cell.link), text);
  if (!cell.detail.empty()) text += "<br><span class=s>" + escaped(cell.detail) + "</span>";
  const bool is_long = std::max(cell.text.size(), cell.detail.size()) > kLong;
  if (!std::isfinite(cell.sort)) return (is_long ? "<td class=l>" : "<td>") + text;
  return fmt::format("<td class=n data-s={:.7g}>{}", cell.sort, text);
}

std::string list_html(const ListItem& item) {
  std::string html = "<li>" + inline_html(item.head);
  for (const StyledText& detail : item.details) html += "<br>" + inline_html(detail);
  return html + "\n";
}

struct PageBlock {
  std::string operator()(const Heading& block) const {
    return "<h2>" + inline_html(block.text) + "</h2>\n";
  }
  std::string operator()(const Paragraph& block) const {
    return "<p>" + inline_html(block.text) + "</p>\n";
  }
  std::string operator()(const Note& block) const {
    return "<p class=\"w\">" + inline_html(block.text) + "</p>\n";
  }
  std::string operator()(const Lines& block) const {
    std::string html;
    for (const StyledText& line : block.lines) html += "<p>" + inline_html(line) + "</p>\n";
    return html;
  }
  std::string operator()(const FactList& block) const {
    if (block.rows.empty()) return "";
    std::string html = "<dl>\n";
    for (const auto& [label, value] : block.rows)
      html += "<dt>" + inline_html(label) + "<dd>" + inline_html(value) + "\n";
    return html + "</dl>\n";
  }
  std::string operator()(const ItemList& block) const {
    if (block.items.empty()) return "";
    std::string html = "<ul>\n";
    for (const ListItem& item : block.items) html += list_html(item);
    return html + "</ul>\n";
  }
  std::string operator()(const Figure& block) const {
    if (block.svg.empty()) return "";
    return "<figure><div class=\"fig\">" + block.svg + "</div><figcaption>" +
           escaped(block.caption) + "</figcaption></figure>\n";
  }
  std::string operator()(const DocumentTable& block) const {
    if (block.rows.empty()) return "";
    const std::vector<bool> shown = columns_with_text(block);
    std::string html = "<div class=\"wide\"><table><thead><tr>";
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (shown[i]) html += "<th>" + escaped(block.columns[i].title) + "</th>";
    if (!block.notes.empty()) html += "<th>notes</th>";
    html += "</tr></thead>\n<tbody>";
    // HTML allows omitting end tags of cells and rows: a fifth of the page of a thousand hosts.
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      html += "\n<tr>";
      const std::vector<DocumentCell>& row = block.rows[i];
      for (std::size_t j = 0; j < shown.size(); ++j)
        if (shown[j]) html += j < row.size() ? cell_html(row[j]) : "<td>";
      if (const auto notes = block.notes.find(i); notes != block.notes.end())
        html += "<td class=l>" + notes_html(notes->second);
    }
    return html + "</tbody></table></div>\n";
  }

 private:
  static std::string notes_html(const std::vector<StyledText>& notes) {
    std::string html;
    for (const StyledText& note : notes) html += (html.empty() ? "" : "<br>") + inline_html(note);
    return html;
  }
};

}  // namespace

std::string to_page(const Document& document) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPolicy);
  page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
          escaped(document.title) + "</title><style>" + kPageStyle +
          "</style></head>\n<body>\n<header><h1>" + escaped(document.title);
  if (!document.badge.text.empty()) page += " " + toned(document.badge.text, document.badge.tone);
  page += "</h1></header>\n";
  for (const auto& [block, audience] : document.parts)
    if (audience != Audience::terminal) page += std::visit(PageBlock{}, block);
  if (document.interactive) page += std::string("<script>") + kPageScript + "</script>";
  return page + "</body></html>\n";
}

}  // namespace bench
