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
  Document document{.title = "t", .interactive = false};
  document.add(DocumentTable{
      {{"a"}, {"b"}},
      {{{.text = "n1", .link = "n1.html"}, {.text = "n2", .link = "javascript:alert(1)"}}}});
  const std::string html = to_page(document);
  CHECK(page_has(html, "<a href=\"n1.html\">n1</a>"));
  CHECK_FALSE(page_has(html, "javascript"));
  CHECK_FALSE(page_has(html, "<script"));
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
