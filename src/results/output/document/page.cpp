#include "results/output/document/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "results/output/document/document.h"
#include "results/output/document/markup.h"
#include "results/output/document/page_table.h"

namespace bench {
namespace {

// Whatever got past the escaping could still load nothing and send nothing.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'";

// Light and dark are two sets of variables; print is always light. Verdicts differ by their words
// as well as by colour. All colours of text have a contrast of 4.5 and more to their background.
constexpr const char* kLight =
    "--paper:#fff;--card:#f4f6f8;--ink:#111;--soft:#555;--rule:#ccc;--grid:#ddd;--link:#0b57a4;"
    "--good:#0a6b2b;--bad:#b00020;--unsure:#7f5200;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;"
    "--c3:#cc79a7;--c4:#2f93cc;--c5:#b57a00;--c6:#7f6f00;--c7:#555;--none:#bbb";
constexpr const char* kDark =
    "--paper:#15181c;--card:#1e2329;--ink:#e8e8e8;--soft:#a8adb3;--rule:#3a4047;--grid:#2b3036;"
    "--link:#8ab8ff;--good:#5fd08a;--bad:#ff7a85;--unsure:#f0b95a;--c0:#56b4e9;--c1:#ff8c42;"
    "--c2:#35c79a;--c3:#e79ac8;--c4:#8ecbf0;--c5:#f0b840;--c6:#d6c840;--c7:#bbb;--none:#555";

constexpr const char* kPageStyle = R"(
:root[data-look=light]{color-scheme:light}:root[data-look=dark]{color-scheme:dark}
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:88em;margin:0 auto;padding:0 1em 3em;overflow-wrap:anywhere}
header{display:flex;justify-content:space-between;align-items:center;gap:1em;min-height:3em;border-bottom:1px solid var(--rule);color:var(--soft)}
h1{font-size:1.6em;margin:.7em 0 .4em}h2{font-size:1.2em;margin:0}
section,details{margin:2em 0 0}section>h2{margin-bottom:.5em}
summary{cursor:pointer;margin-bottom:.5em}summary h2{display:inline}
a{color:var(--link)}a .v{color:inherit}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.headline{background:var(--card);border-left:6px solid var(--rule);border-radius:4px;padding:.7em 1.1em;font-size:1.05em}
.headline.good{border-color:var(--good)}.headline.bad{border-color:var(--bad)}.headline.unsure{border-color:var(--unsure)}
.headline p{margin:.3em 0}.headline>p:first-child{font-size:1.15em}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(11em,1fr));gap:.8em;margin:1em 0 0}
.card{background:var(--card);border-radius:4px;padding:.6em .9em}.card p{margin:0}
.card .x{font-size:1.5em;font-weight:700;line-height:1.3}
nav{margin:1em 0 0;display:flex;flex-wrap:wrap;gap:.3em 1.2em}
.w{border-left:3px solid var(--unsure);padding-left:.8em}
table{border-collapse:collapse;min-width:40%}
th,td{border-bottom:1px solid var(--rule);padding:.3em .55em;text-align:left;vertical-align:top;overflow-wrap:break-word}
td.l{overflow-wrap:anywhere;min-width:14em}
thead th{position:sticky;top:0;background:var(--paper);vertical-align:bottom}
td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.n .s{white-space:normal}
tbody tr:hover{background:var(--card)}
button,input{font:inherit;color:inherit;background:none;border:1px solid var(--rule);border-radius:4px;padding:.15em .6em}
th button{border:0;padding:0;font-weight:700;cursor:pointer;text-align:left}
th[aria-sort=ascending] button::after{content:" \25b2"}th[aria-sort=descending] button::after{content:" \25bc"}
td::before{display:none}tr[hidden]{display:none!important}
.find{margin:.4em 0}.find span{color:var(--soft);margin-left:.6em}
.v{font-weight:700}
.v.good{color:var(--good)}.v.bad{color:var(--bad)}.v.unsure{color:var(--unsure)}.s{color:var(--soft)}
dl{display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.15em 1em}dt{color:var(--soft)}dd{margin:0}
figure{margin:1em 0}.fig{overflow:auto;max-height:85vh}figcaption{color:var(--soft);max-width:60em}
svg.plot{min-width:30em;max-width:100%;height:auto;fill:var(--ink)}
svg .grid{stroke:var(--grid)}svg .ink{stroke:var(--ink)}svg .rule{stroke:var(--bad)}svg .none{fill:var(--none)}svg .band{fill:var(--c7)}
svg .s0{stroke:var(--c0);fill:var(--c0)}svg .s1{stroke:var(--c1);fill:var(--c1)}svg .s2{stroke:var(--c2);fill:var(--c2)}svg .s3{stroke:var(--c3);fill:var(--c3)}
svg .s4{stroke:var(--c4);fill:var(--c4)}svg .s5{stroke:var(--c5);fill:var(--c5)}svg .s6{stroke:var(--c6);fill:var(--c6)}svg .s7{stroke:var(--c7);fill:var(--c7)}
@media(max-width:640px){body{font-size:13px;padding:0 .7em 2em}}
@media print{body{margin:0;max-width:none;font-size:10pt}header button,.find,nav{display:none}.fig{overflow:visible;max-height:none}
tr,svg,.card{break-inside:avoid}thead th{position:static}}
@page{margin:15mm})";

std::string page_style() {
  return fmt::format(
             ":root{{color-scheme:light dark;{0}}}\n"
             "@media(prefers-color-scheme:dark){{:root:not([data-look=light]){{{1}}}}}\n"
             ":root[data-look=dark]{{{1}}}\n"
             "@media print{{:root,:root[data-look=dark]{{color-scheme:light;{0}}}}}",
             kLight, kDark) +
         kPageStyle;
}

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
    table.parentNode.insertBefore(line, table);
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
  document.documentElement.className = 'js';
  look();
  window.addEventListener('beforeprint', function () {
    Array.prototype.forEach.call(document.querySelectorAll('details'), function (one) {
      one.open = true;
    });
  });
  Array.prototype.forEach.call(document.querySelectorAll('table'), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, sorted_by_click);
    if (table.tBodies[0].rows.length > 12) search(table);
  });
})();
)";

/// Class of an edge in the colour of the tone.
std::string_view colour_of(Tone tone) {
  if (tone == Tone::good) return "good";
  if (tone == Tone::bad) return "bad";
  return tone == Tone::unsure ? "unsure" : "";
}

std::string list_html(const ListItem& item) {
  std::string html = "<li>" + inline_html(item.head);
  for (const StyledText& detail : item.details) html += "<br>" + inline_html(detail);
  return html + "\n";
}

std::string items_html(const ItemList& list, const char* element) {
  if (list.items.empty()) return "";
  std::string html = fmt::format("<{}>\n", element);
  for (const ListItem& item : list.items) html += list_html(item);
  return html + fmt::format("</{}>\n", element);
}

/// A block inside a section.
struct PageBlock {
  std::size_t& tables;  // so far

  std::string operator()(const Heading&) const { return ""; }
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
  std::string operator()(const ItemList& block) const { return items_html(block, "ul"); }
  std::string operator()(const Headline& block) const {
    std::string html =
        fmt::format("<div class=\"headline {}\">\n<p>{}: {}</p>\n", colour_of(block.tone),
                    toned_html(block.verdict, block.tone), escaped(block.text));
    html += items_html(block.reasons, "ol");
    if (!block.next_step.empty())
      html += "<p><span class=v>Next step:</span> " + escaped(block.next_step) + "</p>\n";
    return html + "</div>\n";
  }
  std::string operator()(const Cards& block) const {
    if (block.cards.empty()) return "";
    std::string html = "<div class=cards>\n";
    for (const SummaryCard& card : block.cards)
      html += fmt::format("<div class=card><p class=s>{}</p><p class=\"x {}\">{}</p>{}</div>\n",
                          escaped(card.label), class_of(card.tone), escaped(card.value),
                          card.detail.empty() ? "" : "<p class=s>" + escaped(card.detail) + "</p>");
    return html + "</div>\n";
  }
  std::string operator()(const Figure& block) const {
    if (block.svg.empty()) return "";
    return "<figure><div class=\"fig\" tabindex=0>" + block.svg + "</div><figcaption>" +
           escaped(block.caption) + "</figcaption></figure>\n";
  }
  std::string operator()(const DocumentTable& block) const { return table_html(block, ++tables); }
};

/// What follows a heading, up to the next.
struct PageSection {
  const Heading* heading = nullptr;  // none for what comes first
  std::string html = {};
};

/// Without those that have nothing to show.
std::vector<PageSection> sections_of(const Document& document) {
  std::vector<PageSection> sections(1);
  std::size_t tables = 0;
  for (const auto& [block, audience] : document.parts) {
    if (audience == Audience::terminal) continue;
    if (const auto* heading = std::get_if<Heading>(&block))
      sections.push_back({heading});
    else
      sections.back().html += std::visit(PageBlock{tables}, block);
  }
  std::erase_if(sections, [](const PageSection& one) { return one.html.empty(); });
  return sections;
}

std::string section_html(const PageSection& section, std::size_t number) {
  if (section.heading == nullptr) return section.html;
  const std::string title = "<h2>" + inline_html(section.heading->text) + "</h2>";
  return section.heading->folded
             ? fmt::format("<details id=s{}><summary>{}</summary>\n{}</details>\n", number, title,
                           section.html)
             : fmt::format("<section id=s{}>{}\n{}</section>\n", number, title, section.html);
}

/// Links to the sections of a page that has several.
std::string contents_html(const std::vector<PageSection>& sections) {
  constexpr std::size_t kSeveral = 4;
  if (sections.size() < kSeveral) return "";
  std::string html = "<nav aria-label=Sections>\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].heading == nullptr) continue;
    std::string title;
    for (const TextSpan& span : sections[i].heading->text.spans) title += span.text;
    html += link_html(escaped(title), fmt::format("#s{}", i)) + "\n";
  }
  return html + "</nav>\n";
}

std::string header_html(const Document& document) {
  std::string html = "<header><p>";
  for (const auto& [title, address] : document.parents)
    html += link_html(escaped(title), address) + " / ";
  return html + "benchctl</p></header>\n";
}

}  // namespace

std::string to_page(const Document& document) {
  const Headline* headline = headline_of(document);
  const std::string verdict = headline != nullptr ? headline->verdict : document.badge.text;
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPolicy);
  page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
          escaped(document.title + (verdict.empty() ? "" : ": " + verdict)) + "</title><style>" +
          page_style() + "</style></head>\n<body>\n" + header_html(document) + "<main><h1>" +
          escaped(document.title);
  if (headline == nullptr && !verdict.empty())
    page += " " + toned_html(verdict, document.badge.tone);
  page += "</h1>\n";
  const std::vector<PageSection> sections = sections_of(document);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (i == 0 && sections[i].heading != nullptr) page += contents_html(sections);
    page += section_html(sections[i], i);
    if (i == 0 && sections[i].heading == nullptr) page += contents_html(sections);
  }
  return page + "</main>\n<script>" + kPageScript + "</script></body></html>\n";
}

}  // namespace bench
