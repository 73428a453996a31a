#include "results/output/document/page.h"

#include "results/output/document/markdown.h"
#include "results/output/document/plot.h"
#include "results/output/document/terminal.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

bool page_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a page is self-contained and loads nothing") {
  Document document{.title = "Fleet"};
  document.add(Heading{"Hosts"}).add(Paragraph{"all"});
  const std::string html = to_page(document);
  for (const char* word : {"src=", "href=", "url(", "@import", "fetch(", "XMLHttp"})
    CHECK_FALSE(page_has(html, word));
  CHECK(page_has(html, "default-src 'none'"));
  CHECK(page_has(html, "name=\"viewport\""));
  CHECK(page_has(html, "prefers-color-scheme:dark"));
  CHECK(page_has(html, "@media print"));
}

TEST_CASE("all text of a page is escaped") {
  const std::string bad = "<img src=x onerror=alert(1)>\"'\x01</td></script><script>";
  Document document{.title = bad, .badge = {.text = bad, .tone = Tone::bad}};
  document.add(Heading{bad}).add(Paragraph{{bad, Tone::good}}).add(Note{bad});
  document.add(FactList{{{bad, bad}}}).add(ItemList{{{bad, {bad}}}}).add(Lines{{bad}});
  document.add(DocumentTable{{{bad}, {bad}},
                             {{{.text = bad, .detail = bad, .link = "x\" onclick=\"a"}, {bad, 1.0}},
                              {{bad, 2.0, Tone::bad}}},
                             {{0, {bad}}}});
  document.add(Figure{to_svg(Plot{bad, bad, bad}), bad});
  const std::string html = to_page(document);
  CHECK_FALSE(page_has(html, "<img"));
  CHECK_FALSE(page_has(html, "\" onclick"));
  CHECK_FALSE(page_has(html, "\x01"));
  CHECK(html.find("<script>") == html.rfind("<script>"));
  CHECK(html.find("</script>") == html.rfind("</script>"));
}

TEST_CASE("links lead only to what lies next to the page") {
  Document document{.title = "t"};
  document.add(DocumentTable{
      {{"a"}, {"b"}},
      {{{.text = "n1", .link = "n1.html"}, {.text = "n2", .link = "javascript:alert(1)"}}}});
  const std::string html = to_page(document);
  CHECK(page_has(html, "<a href=\"n1.html\">n1</a>"));
  CHECK_FALSE(page_has(html, "javascript:"));
  for (const char* elsewhere : {"//evil.example/a.html", "/etc/passwd", "\\\\evil.example\\a"}) {
    Document other{.title = "t"};
    other.add(DocumentTable{{{"a"}}, {{{.text = "n3", .link = elsewhere}}}});
    CHECK_FALSE(page_has(to_page(other), "<a href"));
  }
}

TEST_CASE("number cells have sort keys, verdicts are badges") {
  Document document{.title = "t"};
  document.add(DocumentTable{{{"a"}, {"b"}, {"c"}},
                             {{{"n1"}, {"1.5 GB/s", 1.5e9}, verdict_cell(Verdict::fail)}}});
  const std::string html = to_page(document);
  CHECK(page_has(html, "<td>n1"));
  CHECK(page_has(html, "<td class=n data-s=1.5e+09>1.5 GB/s"));
  CHECK(page_has(html, "<span class=\"v bad\">FAIL</span>"));
}

TEST_CASE("a column that is equal in all rows is named once, a verdict is shown in each") {
  DocumentTable table{{{"host", false}, {"device", false}, {"rate"}, {"verdict", false}}};
  for (int i = 0; i < 4; ++i)
    table.rows.push_back(
        {{"n1"}, {"cuda"}, {std::to_string(i), 1.0 * i}, verdict_cell(Verdict::pass)});
  Document document{.title = "t"};
  CHECK(page_has(to_page(document.add(table)), "In every row: device cuda"));
  CHECK_FALSE(page_has(to_page(document), "<td>cuda"));
  CHECK(page_has(to_page(document), "<td>n1"));
  CHECK(page_has(to_page(document), "PASS</span>"));
  table.rows.pop_back();  // few rows are read as they are
  Document few{.title = "t"};
  CHECK(page_has(to_page(few.add(table)), "<td>cuda"));
}

TEST_CASE("rows of a table become cards with labels where the window is too narrow for them") {
  const auto page = [](std::size_t columns) {
    DocumentTable table;
    std::vector<DocumentCell> row;
    for (std::size_t i = 0; i < columns; ++i) {
      table.columns.push_back({"title \"of\" </style> " + std::to_string(i), false});
      row.push_back({"a_value_" + std::to_string(i)});
    }
    table.rows = {row};
    Document document{.title = "t"};
    return to_page(document.add(table));
  };
  CHECK_FALSE(page_has(page(2), "@media(max-width:4"));
  CHECK_FALSE(page_has(page(2), "#t1"));
  CHECK(page_has(
      page(6),
      "#t1 td:nth-child(6)::before{content:\"title \\22 of\\22  \\3c \\2f style\\3e  5\"}"));
  CHECK(page_has(page(6), "@media(max-width:"));
  CHECK(page_has(page(30), "@media all{#t1"));
}

TEST_CASE("a page begins with its headline, and a folded section is closed") {
  Document document{.title = "Night", .parents = {{"All <results>", "../index.html"}}};
  document.add(Headline{"FAIL", Tone::bad, "1 of 2 hosts", {{{"n1: slow"}}}, "check <n1>"});
  document.add(Cards{{{"Hosts", "2", "of 3", Tone::bad}}});
  document.add(Heading{"Statistics", true}).add(Paragraph{"p = 0.01"});
  document.add(Heading{"Empty"}).add(DocumentTable{{{"a"}}});
  const std::string html = to_page(document);
  CHECK(page_has(html, "<title>Night: FAIL</title>"));
  CHECK(page_has(html, "<a href=\"../index.html\">All &lt;results&gt;</a> / "));
  CHECK(page_has(
      html,
      "<div class=\"headline bad\">\n<p><span class=\"v bad\">FAIL</span>: 1 of 2 hosts</p>"));
  CHECK(page_has(html, "<ol>\n<li>n1: slow"));
  CHECK(page_has(html, "Next step:</span> check &lt;n1&gt;"));
  CHECK(page_has(html, "<p class=s>Hosts</p><p class=\"x v bad\">2</p><p class=s>of 3</p>"));
  CHECK(page_has(html, "<details id=s1><summary><h2>Statistics</h2></summary>"));
  CHECK_FALSE(page_has(html, "Empty"));
  CHECK(to_terminal(document, {})
            .starts_with("FAIL: 1 of 2 hosts\n  n1: slow\nnext step: check <n1>\n"));
  CHECK(page_has(to_markdown(document), "**FAIL**: 1 of 2 hosts\n\n- n1: slow\n"));
}

TEST_CASE("a figure without a plot is omitted") {
  Document document{.title = "t"};
  document.add(Figure{"", "nothing"});
  CHECK_FALSE(page_has(to_page(document), "<figure"));
}

TEST_CASE("no renderer shows text from outside reversed or with controls") {
  const std::string bad = "node\xe2\x80\xaessap\xe2\x80\x8b\x1b[2J";
  Document document{.title = bad, .badge = {.text = bad, .tone = Tone::bad}};
  document.add(Heading{bad}).add(Paragraph{{bad, Tone::good}}).add(Note{bad});
  document.add(FactList{{{bad, bad}}}).add(ItemList{{{bad, {bad}}}}).add(Lines{{bad}});
  document.add(DocumentTable{{{bad}}, {{{.text = bad, .detail = bad}}}, {{0, {bad}}}});
  for (const std::string& text :
       {to_page(document), to_markdown(document), to_terminal(document, {})})
    for (const char* raw : {"\xe2\x80\xae", "\xe2\x80\x8b", "\x1b[2J"})
      CHECK_FALSE(page_has(text, raw));
}
