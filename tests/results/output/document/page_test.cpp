#include "results/output/document/page.h"

#include "results/output/document/plot.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

bool page_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a page is self-contained and loads nothing") {
  const std::string html = Page("Fleet").heading("Hosts").text("all").html();
  for (const char* word : {"src=", "href=", "url(", "@import", "fetch(", "XMLHttp"})
    CHECK_FALSE(page_has(html, word));
  CHECK(page_has(html, "default-src 'none'"));
  CHECK(page_has(html, "name=\"viewport\""));
  CHECK(page_has(html, "prefers-color-scheme:dark"));
  CHECK(page_has(html, "@media print"));
}

TEST_CASE("all text of a page is escaped") {
  const std::string bad = "<img src=x onerror=alert(1)>\"'\x01</td></script><script>";
  Page page(bad);
  page.heading(bad).text(bad).note(bad);
  page.table({{bad}, {{{bad}, {bad, 1.0}, {bad, 1.0, bad}, {bad, 2.0, "x\" onclick=\"a"}}}});
  page.figure(to_svg(Plot{bad, bad, bad}), bad);
  const std::string html = page.html();
  CHECK_FALSE(page_has(html, "<img"));
  CHECK_FALSE(page_has(html, "onclick"));
  CHECK_FALSE(page_has(html, "\x01"));
  CHECK(html.find("<script>") == html.rfind("<script>"));
  CHECK(html.find("</script>") == html.rfind("</script>"));
}

TEST_CASE("number cells have sort keys, verdicts are badges") {
  const std::string html =
      Page("t")
          .table({{"a", "b", "c"}, {{{"n1"}, {"1.5 GB/s", 1.5e9}, {"FAIL", 2.0, "fail"}}}})
          .html();
  CHECK(page_has(html, "<td>n1"));
  CHECK(page_has(html, "<td class=n data-s=1.5e+09>1.5 GB/s"));
  CHECK(page_has(html, "<span class=\"v fail\">FAIL</span>"));
}

TEST_CASE("a figure without a plot is omitted") {
  CHECK_FALSE(page_has(Page("t").figure("", "nothing").html(), "<figure"));
}
